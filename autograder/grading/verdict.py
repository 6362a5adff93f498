"""From what happened in a check to its result: whose fault an error is, how many points, and the five lines.

Two steps that do not know each other: `examine` runs a check until it is clear whose fault a failure is, `result` turns
what happened into a `CheckResult`.
"""

from __future__ import annotations

import re
import sys
import traceback
from pathlib import Path
from typing import Any

import msgspec
import pytest

from autograder.diagnosis.causes import likely_cause
from autograder.errors import SoftmarkError
from autograder.grading.calls import describe_call, describe_value
from autograder.grading.checks import Check
from autograder.grading.line import ANYWHERE
from autograder.grading.plugin import CheckRun, Checks, ItemRun, Subject
from autograder.intake.assembly import cell_at
from autograder.results import (
    CheckResult,
    Explanation,
    ImportFailed,
    Ours,
    Outcome,
    Raised,
    Reason,
    ReturnedObject,
    WrongForm,
    outcome_of,
)
from autograder.student_error import StudentError
from autograder.testing.mismatch import Mismatch
from autograder.text import bounded

_MOST_CHARACTERS = 20_000
_MOST_FOR_STAFF = 4_000
_LINES_OF_ASSERTION = 3
_PLACE = re.compile(r"^(\S+\.py), line (\d+)", re.MULTILINE)


def examine(
    checks: Checks, check: Check, subject: Subject, reference: Subject | None, *, public: bool = False
) -> CheckRun:
    """Run a check. Where it ends in an error that is no verdict, find out whose fault it is.

    1. An error of ours (`GraderError`) is tried once more; if it comes again, the check is broken.
    2. An error that is no assertion and did not come from student code is tried with the reference in the student's
       place. If that passes, the check tripped over what the student returned; if it fails, the check is broken.
       Without a reference, as on a student's machine, it tripped over what the student returned.
    3. Where the student gives objects and it is not known yet where the reference does, that is found out first.
    """
    objects = ANYWHERE if reference is None else checks.objects.get((check.number, public))
    run = checks.run(check, subject, public=public, objects=objects)
    if reference is not None and objects is None and any(map(_met_objects, run.items)):
        del run  # with all that it returned, before more is
        objects = _places_of_objects(checks.run(check, reference, public=public))
        checks.objects[check.number, public] = objects
        run = checks.run(check, subject, public=public, objects=objects)
    if _ours(run) is not None:
        del run
        run = checks.run(check, subject, public=public, objects=objects)
    if (ours := _ours(run)) is not None:
        run.reason = Ours(error=f"{type(ours).__name__}: {ours}")
        return run
    tripped = next((item.error for item in run.items if _is_open(item)), None)
    if tripped is not None:
        with_reference = None if reference is None else checks.run(check, reference, public=public)
        if with_reference is not None and any(item.error is not None for item in with_reference.items):
            run.reason, run.traceback = _broken_by(tripped, Path(check.items[0].path))
        else:
            strange = next((item.line.log.strange for item in run.items if _is_open(item)), None)
            run.reason = WrongForm() if strange is None else ReturnedObject(function=strange[0], type_name=strange[1])
    return run


def _places_of_objects(run: CheckRun) -> frozenset[str]:
    return frozenset(place for item in run.items for place in item.line.log.objects)


def _met_objects(item: ItemRun) -> bool:
    return item.line.log.undeclared or (item.error is not None and item.line.log.strange is not None)


def result(run: CheckRun) -> CheckResult:
    """The result of one check. Points are the sum over its items, each with an equal share of the weight."""
    check, broken = run.check, isinstance(run.reason, Ours)
    share = check.weight / len(check.items)
    points = 0.0 if broken else sum(_points(item, share, check) for item in run.items)
    points = check.weight if abs(points - check.weight) < 1e-9 else points
    failing = next((item for item in run.items if error_of(item) is not None), None)
    reason: Reason | None = run.reason
    outcome: Outcome = "passed"
    explanation, staff = None, run.traceback
    if broken:
        outcome = "broken"
    elif failing is not None:
        error = error_of(failing)
        reason = error.reason if isinstance(error, StudentError) else run.reason if _is_open(failing) else None
        outcome = "failed" if reason is None else outcome_of(reason)
        outcome = "partial" if outcome == "failed" and points > 0 else outcome
        explanation = _explained(run, failing, reason)
        if len(run.items) > 1 and reason is None and not check.hide_errors:
            explanation = msgspec.structs.replace(explanation, got=_writable(f"{_cases(run)}\n{explanation.got}"))
        staff = _staff(check, failing)
    elif points < check.weight:
        outcome, explanation = "partial", Explanation(property=check.title, read=check.reading)
    return CheckResult(
        number=check.number,
        name=check.name,
        part=check.part,
        title=check.title,
        weight=check.weight,
        score=points,
        outcome=outcome,
        hidden=check.hidden,
        visibility=check.visibility,
        reason=_encodable(reason),
        explanation=explanation,
        hide_errors=bool(check.hide_errors),
        unweighed=next((item.line.log.unweighed for item in run.items if item.line.log.unweighed), ""),
        output=_writable(run.usage.output),
        staff=_writable(staff),
        tags=check.tags,
        extra=check.extra,
        cpu_seconds=round(run.usage.cpu_seconds, 4),
        wall_seconds=round(run.wall_seconds, 4),
    )


def with_cells(found: CheckResult, subject: Subject) -> CheckResult:
    """The same, where the frames of code that was taken from a notebook name its cells."""
    reason = found.reason
    raised = reason.why if isinstance(reason, ImportFailed) else reason
    if not isinstance(raised, Raised):
        return found

    def named(place: re.Match[str]) -> str:
        cell = cell_at((subject.file(place[1]) or b"").decode("utf-8", "replace"), int(place[2]))
        return f"{cell} ({place[0]})" if cell else place[0]

    raised = msgspec.structs.replace(raised, frames=_PLACE.sub(named, raised.frames))
    reason = msgspec.structs.replace(reason, why=raised) if isinstance(reason, ImportFailed) else raised
    return msgspec.structs.replace(found, reason=reason)


def _explained(run: CheckRun, item: ItemRun, reason: Reason | None) -> Explanation:
    """As `explain`, whatever a student returned: finding words for it must cost nobody a grade."""
    try:
        return explain(run.check, item, reason)
    except Exception as error:
        print(f"softmark: check {run.check.number} failed, and could not be explained: {error!r:.300}", file=sys.stderr)
        return Explanation(property=run.check.title, read=run.check.reading)


def explain(check: Check, item: ItemRun, reason: Reason | None) -> Explanation:
    """The five lines of one failing item, whole. (`report.lines` decides how much of them students see.)"""
    if check.hide_errors:
        return Explanation(property=check.title, cause=check.hide_errors, read=check.reading)
    error, last = error_of(item), item.line.log.last
    case, expected, got = describe_call(last), "", ""
    cause = likely_cause(error, item.comparisons, last, hidden=check.hidden)
    if isinstance(error, Mismatch):
        case = error.case or case
        expected = error.expected
        got = error.got if error.got.startswith(error.what) else f"{error.what}: {error.got}"
    elif _is_open(item):
        got = describe_value(last.value) if last is not None and last.returned else ""
    elif reason is None:
        got = "\n".join(_lines_of(error)[:_LINES_OF_ASSERTION])
    case, expected, got, cause = map(_writable, (case, expected, got, cause))
    return Explanation(property=check.title, case=case, expected=expected, got=got, cause=cause, read=check.reading)


def _cases(run: CheckRun) -> str:
    """How many cases of a parametrised check pass, and what came out of each that does not but the first."""
    names = [getattr(getattr(item, "callspec", None), "id", item.name) for item in run.check.items]
    errors = {name: error_of(item) for name, item in zip(names, run.items, strict=False)}
    failed = {name: error for name, error in errors.items() if error is not None}
    do = "do" if len(failed) > 1 else "does"
    told = f"{len(errors) - len(failed)} of {len(errors)} cases pass; {', '.join(failed)} {do} not."
    said: dict[str, list[str]] = {}  # the first is told in full, right below
    for name, error in failed.items():
        said.setdefault(str(error), []).append(name)
    same, *others = said.items()
    lines = [f"{', '.join(names)}: {message.splitlines()[0][:300]}" for message, names in others if message]
    return "\n".join([told, *lines, f"{', '.join(same[1])}:"])


def _staff(check: Check, item: ItemRun) -> str:
    """What the explanation and the reason leave out; in a hidden check also what student code chose the words of."""
    error = error_of(item)
    if check.hidden and isinstance(error, Mismatch) and error.theirs:
        return str(error)[:_MOST_FOR_STAFF]
    told = isinstance(error, StudentError) or (
        not check.hide_errors
        and not _is_open(item)
        and (isinstance(error, Mismatch) or len(_lines_of(error)) <= _LINES_OF_ASSERTION)
    )
    return "" if told else f"{type(error).__name__}: {error}"[:_MOST_FOR_STAFF]


def _writable(text: str) -> str:
    """No longer than anybody reads (a check may put all of a value into its message), and without lone surrogates."""
    return bounded(text, _MOST_CHARACTERS).encode("utf-8", "backslashreplace").decode()


def _encodable(reason: Reason | None) -> Reason | None:
    """The reason with each of its texts writable: student code chose some of them."""

    def cleaned(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [cleaned(each) for each in value]  # pyright: ignore[reportUnknownVariableType]
        if isinstance(value, dict):
            return {key: cleaned(each) for key, each in value.items()}  # pyright: ignore[reportUnknownVariableType]
        return _writable(value) if isinstance(value, str) else value

    return msgspec.convert(cleaned(msgspec.to_builtins(reason)), Reason | None)


# ------------------------------------------------------------------ one item


def error_of(item: ItemRun) -> BaseException | None:
    """Why an item failed: the student's fatal error first, which no `except` in a check can swallow."""
    return item.line.log.fatal or item.error


def _points(item: ItemRun, share: float, check: Check) -> float:
    if item.line.log.fatal is not None:
        return 0.0
    if item.score is not None:
        return item.score
    return 0.0 if check.partial or error_of(item) is not None else share


def _ours(run: CheckRun) -> BaseException | None:
    return next((item.error for item in run.items if isinstance(item.error, SoftmarkError)), None)


def _is_open(item: ItemRun) -> bool:
    """Whether it ended in an error that is neither an assertion nor student code's."""
    verdicts = (StudentError, AssertionError, pytest.fail.Exception)
    return item.error is not None and item.line.log.fatal is None and not isinstance(item.error, verdicts)


def _lines_of(error: BaseException | None) -> list[str]:
    return [line for line in str(error)[:_MOST_CHARACTERS].splitlines() if line.strip()]


def _broken_by(error: BaseException, file: Path) -> tuple[Ours, str]:
    """The reason and the traceback, from the check's own line on: how pytest came there helps nobody."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != str(file):
        trace = trace.tb_next
    where = "" if trace is None else f"{file.name}, line {trace.tb_lineno}"
    lines = traceback.format_exception(type(error), error, trace or error.__traceback__)
    return Ours(error=_writable(lines[-1].strip()), where=where), "".join(lines[-6:])
