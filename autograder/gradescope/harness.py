"""What runs on the platform for each submission: `python -m autograder.gradescope.harness [ROOT [SOURCE]]`.

Writes a valid results.json before anything else and the right one at the end, whatever happens in between, and always
exits with 0. It holds the run together; another process grades (`grade_one`), and `supervision` keeps its time.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from autograder import processors
from autograder.gradescope import fallback, supervision
from autograder.gradescope.deadline import Deadline, deadline, platform_seconds
from autograder.gradescope.handoff import Order
from autograder.gradescope.layout import ROOT, Layout, close_to_others
from autograder.gradescope.metadata import SubmissionMetadata, read_metadata
from autograder.grading.record import write_atomically
from autograder.report.gradescope_json import results_json, to_results
from autograder.report.gradescope_schema import Results, read_results
from autograder.results import Grade

if TYPE_CHECKING:
    from autograder.assignment.assignment import Assignment


def run(layout: Layout, seconds: float) -> Results:
    """Grade what lies in `layout` within the platform's `seconds`, and write its results.json. Raises nothing."""
    start = time.monotonic()
    figures: dict[str, Any] = {"threads": processors.whole(), "processors": round(processors.available(), 3)}
    _always(lambda: _write(layout.results, fallback.unfinished(figures)))
    try:
        results = _graded(layout, deadline(start, seconds), figures)
    except BaseException:  # whatever it is, the student gets a sentence and staff gets this
        traceback.print_exc()
        results = fallback.failed([traceback.format_exc()], figures)
    try:
        _write(layout.results, results)
    except BaseException as error:
        traceback.print_exc()
        results = fallback.failed([f"The results could not be written: {error!r:.2000}"], figures)
        _always(lambda: _write(layout.results, results))
    return results


def _graded(layout: Layout, times: Deadline, figures: dict[str, Any]) -> Results:
    metadata = read_metadata(layout.metadata)
    faults = close_to_others(layout)
    settings = layout.settings()
    figures.update(_of_metadata(metadata), softmark=settings.softmark)
    order = Order(
        assignment=str(layout.assignment(settings)),
        submission=str(layout.submission),
        name=metadata.name,
        digest=settings.digest,
        until=times.until,
        submitters=metadata.submitters,
        created_at=metadata.created_at,
        due=metadata.due,
        allow_missing=settings.allow_missing,
    )
    outcome = supervision.grade_in_time(order, times, supervision.grading_environment())
    figures.update(outcome.run)
    said = (*metadata.staff, *faults, *outcome.details)
    for line in said:
        print(f"softmark: {line}", file=sys.stderr)
    if outcome.grade is None:
        return fallback.failed(said, figures)
    grade = msgspec.structs.replace(outcome.grade, staff=(*outcome.grade.staff, *said))
    from autograder.assignment.assignment import load_assignment

    assignment = load_assignment(layout.assignment(settings))
    meanwhile = assignment.hidden_until_due if metadata.in_time else ""
    return to_results(_with_lateness(grade, assignment, metadata), figures, meanwhile)


def _with_lateness(grade: Grade, assignment: Assignment, metadata: SubmissionMetadata) -> Grade:
    """A whole grade has been through this already; what was known of one that was cut short has not."""
    if grade.status != "incomplete":
        return grade
    from autograder.assignment.late import applied, policy_of

    return applied(grade, policy_of(assignment), metadata.created_at, metadata.due)


def _of_metadata(metadata: SubmissionMetadata) -> dict[str, Any]:
    """For staff: what the platform said of this submission, without names."""
    return {
        "submission": metadata.id,
        "created_at": metadata.created_at,
        "due": metadata.due,
        "people": len(metadata.submitters),
        "group": metadata.group,
        "method": metadata.method,
        "previous submissions": metadata.previous,
    }


def _write(path: Path, results: Results) -> None:
    """Whole or not at all, and only what the platform takes. Raises `OSError` or `msgspec.MsgspecError`."""
    data = results_json(results)
    read_results(data)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, data)
    path.chmod(0o644)


def _always(do: Callable[[], object]) -> None:
    try:
        do()
    except BaseException:
        traceback.print_exc()


def _stop(number: int, _frame: object) -> None:
    signal.signal(number, signal.SIG_IGN)  # once is enough, and what follows must come to its end
    raise supervision.StopRequested


def main(arguments: list[str], environment: Mapping[str, str]) -> int:
    """Run for the platform. Always 0: the platform reports the status and judges results.json."""
    root = Path(arguments[0]) if arguments else ROOT
    source = Path(arguments[1]) if len(arguments) > 1 else root / "source"
    signal.signal(signal.SIGTERM, _stop)
    os.umask(0o022)
    results = run(Layout(root, source), platform_seconds(environment))
    print(f"softmark: {results.score:g} points, {len(results.tests)} checks", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
