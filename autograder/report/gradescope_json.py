"""A grade in Gradescope's results.json.

Everything that somebody else wrote is plain text, escaped and bounded, so that all outputs together stay below what the
platform cuts off. For a hidden check the file holds only its property and its cause. That is so in `extra_data`, too,
since the platform gives earlier results back to a later submission.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from autograder.report.gradescope_schema import LeaderboardColumn, PlatformTest, Results
from autograder.report.lines import explanation_text, printed_text
from autograder.report.view import (
    added,
    check_view,
    for_staff,
    for_students,
    is_hidden,
    is_worth_a_look,
    notes_for_students,
    reason_for_students,
    staff_notes,
    taken_off,
)
from autograder.results import CheckResult, Grade
from autograder.text import bounded, one_line, shown, visible

_TEST_CHARACTERS = 6_000
_ALL_TESTS_CHARACTERS = 70_000
_PRINTED_CHARACTERS = 2_500
_SUMMARY_CHARACTERS = 10_000
_STAFF_CHARACTERS = 4_000
_DECIMALS = 6


Meanwhile = Literal["", "nothing", "counts", "causes"]
"""What is told of hidden checks while it is not due yet; "" once it was, when their points are in each sum."""


def to_results(grade: Grade, run: Mapping[str, Any] | None = None, meanwhile: Meanwhile = "") -> Results:
    """The grade as the platform takes it; the score is 0 for what nobody could grade. `run` are figures for staff."""
    share = _ALL_TESTS_CHARACTERS // max(1, len(grade.checks))
    return Results(
        score=_rounded(grade.points, math.inf) if grade.status != "ungraded" and grade.points is not None else 0.0,
        execution_time=0.0 if meanwhile else round(max(0.0, grade.wall_seconds), 3),  # code can sleep by what it sees
        output=shown(_summary(grade, meanwhile), _SUMMARY_CHARACTERS),
        tests=tuple(_test(check, min(_TEST_CHARACTERS, share)) for check in grade.checks if is_worth_a_look(check)),
        leaderboard=tuple(_leaderboard(grade)),
        extra_data=_staff_data(grade) | ({"run": dict(run)} if run else {}),
    )


def to_results_json(grade: Grade) -> bytes:
    """The bytes of results.json, UTF-8, with a final newline."""
    return results_json(to_results(grade))


def results_json(results: Results) -> bytes:
    """The bytes of results.json, UTF-8, with a final newline."""
    return msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n"


def _test(check: CheckResult, characters: int) -> PlatformTest:
    view = check_view(check)
    paragraphs = [
        explanation_text(view.told) if view.told is not None else "",
        printed_text(view.printed, _PRINTED_CHARACTERS),
    ]
    return PlatformTest(
        score=_rounded(check.score, check.weight),
        max_score=check.counted,
        status="passed" if check.outcome == "passed" else "failed",
        name=one_line(check.title or check.name),
        number=visible(check.number),
        output=bounded("\n\n".join(filter(None, paragraphs)), characters),
        visibility=check.visibility,
        tags=tuple(one_line(tag) for tag in check.tags),
        extra_data=_without_empty(
            part=check.part,
            check=check.name,
            outcome=check.outcome,
            cpu_seconds=round(check.cpu_seconds, 3),
            staff="" if view.hidden else shown(for_staff(check), _STAFF_CHARACTERS // 4),
        ),
    )


def _summary(grade: Grade, meanwhile: Meanwhile) -> str:
    """The text above the tests: whether the score is final, points by part, notes about the files."""
    if grade.status == "ungraded":
        return "\n\n".join(
            [
                "This submission could not be graded, so the 0 shown here is not a grade. "
                "Your course staff can see this too.",
                shown(reason_for_students(grade), _SUMMARY_CHARACTERS // 2),
                *_notes(grade),
            ]
        ).strip()
    lines = _so_far(grade, meanwhile) if meanwhile else _points(grade)
    paragraphs = [*_incomplete(grade), "\n".join(one_line(line) for line in lines), *_notes(grade)]
    return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)


def _points(grade: Grade) -> list[str]:
    lines = [f"{part.part}: {_number(part.points)} of {_number(part.maximum)} points" for part in grade.parts]
    lines += [f"late: -{_number(taken_off(grade))} points"] if taken_off(grade) else []
    return [*lines, f"extra credit: +{_number(added(grade))} points"] if added(grade) else lines


def _so_far(grade: Grade, meanwhile: Meanwhile) -> list[str]:
    """The points of visible checks, and of hidden ones what may be told until the due date."""
    lines: list[str] = []
    for part in grade.parts:
        seen = [check for check in grade.checks if check.part == part.part and not is_hidden(check)]
        earned, most = math.fsum(c.score for c in seen if not c.extra), math.fsum(check.counted for check in seen)
        lines.append(f"{part.part}: {_number(earned)} of {_number(most)} points in visible checks")
    left_out = math.fsum(check.counted for check in grade.checks if is_hidden(check))
    if left_out:
        lines.append(f"These sums leave out the hidden checks, which hold {_number(left_out)} points.")
    return [*lines, *_of_hidden_checks(grade, meanwhile)]


def _of_hidden_checks(grade: Grade, meanwhile: Meanwhile) -> list[str]:
    hidden = [check for check in grade.checks if is_hidden(check) and check.counted]
    failed = [check for check in hidden if check.outcome != "passed"]
    if meanwhile == "causes":
        told = [(check, for_students(check)) for check in failed]
        return [
            f"Hidden check {check.number} fails: {check.title}" + (f" ({why.cause})" if why and why.cause else "")
            for check, why in told
        ]
    if meanwhile == "nothing":
        return []
    counts = [
        (part.part, *(sum(c.part == part.part for c in some) for some in (failed, hidden))) for part in grade.parts
    ]
    return [f"Hidden checks that fail in {name}: {bad} of {every}" for name, bad, every in counts if every]


def _incomplete(grade: Grade) -> list[str]:
    if grade.status != "incomplete":
        return []
    broken = [check.number for check in grade.checks if check.outcome == "broken"]
    which = f" (on our side: check {', '.join(broken)})" if broken else ""
    return [
        f"This grade is not complete: not everything could be checked{which}. "
        "The score shown can still rise; your course staff can see this too."
    ]


def _notes(grade: Grade) -> list[str]:
    notes = notes_for_students(grade)
    return ["\n".join("- " + one_line(note, 500) for note in notes)] if notes else []


def _leaderboard(grade: Grade) -> list[LeaderboardColumn]:
    """Columns that have a value; a check that failed before it set one has none, and the platform takes no null."""
    columns: list[LeaderboardColumn] = []
    for entry in grade.leaderboard:
        value = entry.value
        if value is None or (isinstance(value, float) and not math.isfinite(value)):
            continue
        value = one_line(value) if isinstance(value, str) else float(value)
        columns.append(LeaderboardColumn(name=one_line(entry.name), value=value, order=entry.order))
    return columns


def _staff_data(grade: Grade) -> dict[str, Any]:
    """For staff: the platform keeps it and does not show it to students."""
    return _without_empty(
        status=grade.status,
        submission=visible(grade.submission),
        assignment=visible(grade.assignment),
        reason=shown(reason_for_students(grade), _STAFF_CHARACTERS),
        staff=[shown(line, _STAFF_CHARACTERS // 4) for line in staff_notes(grade)[:20]],
        sandbox={visible(layer): visible(state) for layer, state in grade.sandbox.items()},
        key=msgspec.to_builtins(grade.key),
    )


def _without_empty(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in ("", None, [], {})}


def _rounded(score: float, maximum: float) -> float:
    return max(0.0, min(round(score, _DECIMALS), maximum))


def _number(points: float) -> str:
    return f"{round(points, _DECIMALS):g}"
