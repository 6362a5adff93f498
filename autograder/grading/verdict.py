"""From what happened in a check to its result: whose fault an error is, how many points, and the five lines.

Two steps that do not know each other: `examine` runs a check until it is clear whose fault a failure is, `result` turns
what happened into a `CheckResult`. Neither starts processes, and neither looks at what student code printed.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from autograder.diagnosis.causes import likely_cause
from autograder.errors import GraderError, SoftmarkError
from autograder.grading.calls import describe_call, describe_value
from autograder.grading.checks import Check
from autograder.grading.plugin import CheckRun, Checks, ItemRun, Subject
from autograder.results import CheckResult, Explanation, Outcome
from autograder.student_error import StudentError
from autograder.testing.mismatch import Mismatch
from autograder.text import bounded

_MOST_CHARACTERS = 20_000


def examine(checks: Checks, check: Check, subject: Subject, reference: Subject) -> CheckRun:
    """Run a check; where it ends in an error that is no verdict, find out whose it is.

    What is ours (`GraderError`) is tried once more. Anything that is no assertion and did not come from student code
    is tried with the reference in the student's place: passes, then it was what the student returned; fails, then the
    check is broken.
    """
    run = checks.run(check, subject)
    if isinstance(_first(run, _is_grader_error), GraderError):
        run = checks.run(check, subject)
    ours = _first(run, _is_grader_error)
    if ours is not None:
        run.broken = f"{type(ours).__name__}: {ours}"
        return run
    open_question = _first(run, _is_open)
    if open_question is None:
        return run
    with_reference = checks.run(check, reference)
    if all(item.error is None for item in with_reference.items):
        run.unusable = True
    else:
        run.broken = _describe_error(open_question, check)
    return run


def result(run: CheckRun) -> CheckResult:
    """The result of one check. Points are the sum over its items, each with an equal share of the weight."""
    check = run.check
    share = check.weight / len(check.items)
    points = 0.0 if run.broken else sum(_points(item, share, check) for item in run.items)
    points = check.weight if abs(points - check.weight) < 1e-9 else points
    failing = next((index for index, item in enumerate(run.items) if error_of(item) is not None), None)
    if run.broken:
        outcome, explanation = "broken", None
    elif failing is not None:
        outcome = _outcome(run.items[failing], points)
        explanation = _explained(run, failing)
    else:
        outcome = "passed" if points >= check.weight else "partial"
        explanation = None if outcome == "passed" else Explanation(property=check.title, read=check.reading)
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
        explanation=explanation,
        output=_writable(run.usage.output),
        staff=_writable("\n".join(filter(None, (run.broken or _staff(run, failing), unweighed(run))))),
        tags=check.tags,
        cpu_seconds=round(run.usage.cpu_seconds, 4),
        wall_seconds=round(run.wall_seconds, 4),
    )


def _explained(run: CheckRun, index: int) -> Explanation:
    """As `explain`, whatever a student returned: finding words for it must cost nobody a grade."""
    try:
        return explain(run, index)
    except Exception as error:
        print(f"softmark: check {run.check.number} failed, and could not be explained: {error!r:.300}", file=sys.stderr)
        return Explanation(property=run.check.title, read=run.check.reading)


def explain(run: CheckRun, index: int) -> Explanation:
    """The five lines for one failing item, whole. (`feedback.lines` decides how much of them students see.)"""
    check, item = run.check, run.items[index]
    if check.hide_errors:
        return Explanation(property=check.title, cause=check.hide_errors, read=check.reading)
    error = error_of(item)
    case, expected, got = describe_call(item.line.log.last), "", ""
    cause = likely_cause(error, item.comparisons, item.line.log.last, hidden=check.hidden)
    if isinstance(error, StudentError):
        got = "\n".join(part for part in (error.sentence, error.frames) if part)
        cause = cause or (error.plain if check.hidden else "")
    elif isinstance(error, Mismatch):
        case = error.case or case
        expected = error.expected
        got = error.got if error.got.startswith(error.what) else f"{error.what}: {error.got}"
    elif run.unusable:
        got = _last_value(item)
        cause = cause or "What your function returned has another form than the handout asks for."
    else:
        got = _assertion_text(error)
    case, expected, got, cause = map(_writable, (case, expected, got, cause))
    return Explanation(property=check.title, case=case, expected=expected, got=got, cause=cause, read=check.reading)


def _writable(text: str) -> str:
    """No longer than anybody reads (a check may put all of a value into its message), and without lone surrogates."""
    return bounded(text, _MOST_CHARACTERS).encode("utf-8", "backslashreplace").decode()


def _last_value(item: ItemRun) -> str:
    last = item.line.log.last
    return describe_value(last.value) if last is not None and last.returned else ""


# ------------------------------------------------------------------ one item


def error_of(item: ItemRun) -> BaseException | None:
    """Why an item failed: the student's fatal error first, which no `except` in a check can swallow."""
    return item.line.log.fatal or item.error


def _points(item: ItemRun, share: float, check: Check) -> float:
    if isinstance(error_of(item), StudentError) and item.line.log.fatal is not None:
        return 0.0
    if item.score is not None:
        return item.score
    return 0.0 if check.partial or error_of(item) is not None else share


def _outcome(item: ItemRun, points: float) -> Outcome:
    error = error_of(item)
    if isinstance(error, StudentError) and error.outcome != "failed":
        return error.outcome  # pyright: ignore[reportReturnType]
    return "partial" if points > 0 else "failed"


def _is_assertion(error: BaseException) -> bool:
    return isinstance(error, (AssertionError, pytest.fail.Exception))


def _is_grader_error(item: ItemRun) -> bool:
    return isinstance(item.error, SoftmarkError)


def _is_open(item: ItemRun) -> bool:
    error = item.error
    return (
        error is not None
        and item.line.log.fatal is None
        and not isinstance(error, StudentError)
        and not _is_assertion(error)
    )


def _first(run: CheckRun, which: Callable[[ItemRun], bool]) -> BaseException | None:
    return next((item.error for item in run.items if which(item)), None)


def _assertion_text(error: BaseException | None) -> str:
    lines = [line for line in str(error)[:_MOST_CHARACTERS].splitlines() if line.strip()]
    return "\n".join(lines[:3])


def _describe_error(error: BaseException, check: Check) -> str:
    """The traceback from the check's own line on: how pytest came there helps nobody."""
    file, trace = str(check.items[0].path), error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != file:
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace or error.__traceback__)[-6:])


def unweighed(run: CheckRun) -> str:
    """Why the allocation model alone judged memory, for staff; "" where it did not."""
    why = next((item.line.log.unweighed for item in run.items if item.line.log.unweighed), "")
    return f"memory is judged by the allocation model alone: of the kernel's account, {why}" if why else ""


def _staff(run: CheckRun, failing: int | None) -> str:
    if failing is None:
        return ""
    error: Any = error_of(run.items[failing])
    frames = getattr(error, "frames", "")
    return "\n".join(part for part in (f"{type(error).__name__}: {error}", frames) if part)[:4000]
