"""One grade in the terminal: as the student sees it, and as staff does.

A check that failed is told in the five lines of `lines`; the student's view of a hidden one keeps its numbers back,
the staff's does not. What other people wrote is `rich.text.Text`: escaped, bounded, and never markup. Tables of many
grades are `table`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from autograder.feedback.escape import one_line, shown
from autograder.feedback.lines import for_students, is_hidden, labelled, printed_for_students, printed_text
from autograder.feedback.table import points_text
from autograder.results import CheckResult, Explanation, Grade

_PRINTED_CHARACTERS = 1_500
_PRINTED_LINES = 12
_STAFF_CHARACTERS = 4_000

_STYLES = {"passed": "green", "partial": "yellow", "broken": "magenta", "not_run": "yellow"}
_WORDS = {"timed_out": "timed out", "not_run": "not run"}


def student_view(grade: Grade) -> RenderableType:
    """The grade as its student sees it: points, notes about the files, each check, five lines where one failed."""
    checks = [_check(check, for_students(check), printed_for_students(check)) for check in grade.checks]
    return Group(*_head(grade), *checks)


def staff_view(grade: Grade) -> RenderableType:
    """The grade as staff sees it: hidden checks whole, what is said to staff alone, times, sandbox, versions."""
    checks = [Group(_check(check, check.explanation, check.output), *_for_staff(check)) for check in grade.checks]
    return Group(*_head(grade), _facts(_staff_facts(grade)), Text(), *checks)


def print_student_view(grade: Grade, console: Console) -> None:
    """Print `student_view`."""
    console.print(student_view(grade))


def print_staff_view(grade: Grade, console: Console) -> None:
    """Print `staff_view`."""
    console.print(staff_view(grade))


def check_view(check: CheckResult) -> RenderableType:
    """One check as its student sees it."""
    return _check(check, for_students(check), printed_for_students(check))


def _head(grade: Grade) -> Iterator[RenderableType]:
    title = Text(one_line(grade.submission), style="bold")
    if grade.status == "ungraded":
        yield title.append(f": could not be graded (out of {points_text(grade.maximum)} points)")
        yield Text(shown(grade.reason, _STAFF_CHARACTERS, 10), style="yellow")
    else:
        yield title.append(f": {points_text(grade.points)} of {points_text(grade.maximum)} points")
    if grade.status == "incomplete":
        yield Text(
            "This grade is not complete: not everything could be checked, and the points can still rise.", "yellow"
        )
    if len(grade.parts) > 1:
        yield _facts([(one_line(p.part), f"{points_text(p.points)} of {points_text(p.maximum)}") for p in grade.parts])
    for note in grade.notes:
        yield Text("note: " + one_line(note, 500))
    yield Text()


def _check(check: CheckResult, explanation: Explanation | None, printed: str) -> RenderableType:
    word = _WORDS.get(check.outcome, check.outcome)
    head = Text(f"{one_line(check.number, 20):<6}")
    head.append(f"{word:<10}", style=_STYLES.get(check.outcome, "red"))
    head.append(f"{points_text(check.score)}/{points_text(check.weight)}" if check.weight else "bonus")
    head.append("  hidden" if is_hidden(check) else "")
    blocks: list[RenderableType] = []
    if explanation is None:
        head.append(f"  {one_line(check.title)}")
    else:
        blocks.append(Padding(_facts(labelled(explanation)), (0, 0, 0, 6)))
    output = printed_text(printed, _PRINTED_CHARACTERS, _PRINTED_LINES)
    if output:
        blocks.append(Padding(Text(output, style="dim"), (0, 0, 0, 6)))
    return Group(head, *blocks, *([Text()] if blocks else []))


def _facts(pairs: Sequence[tuple[str, str]]) -> RenderableType:
    """Labels in one column, texts in the other, which continue below themselves."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(overflow="fold")
    for label, text in pairs:
        grid.add_row(label, Text(text))
    return grid


def _for_staff(check: CheckResult) -> Iterator[RenderableType]:
    pairs = [("staff", shown(check.staff, _STAFF_CHARACTERS, 40)), ("tags", one_line(", ".join(check.tags)))]
    if check.outcome != "passed":
        pairs.append(("time", f"{check.cpu_seconds:.3g} s of CPU, {check.wall_seconds:.3g} s in all"))
    pairs = [(label, text) for label, text in pairs if text]
    if pairs:
        yield Padding(_facts(pairs), (0, 0, 1, 6))


def _staff_facts(grade: Grade) -> list[tuple[str, str]]:
    pairs = [("status", grade.status), ("reason", shown(grade.reason, _STAFF_CHARACTERS, 10))]
    pairs += [("staff", shown(line, _STAFF_CHARACTERS, 10)) for line in grade.staff]
    pairs += [("sandbox", ", ".join(f"{one_line(k)}: {one_line(v)}" for k, v in sorted(grade.sandbox.items())))]
    pairs += [("time", f"{grade.wall_seconds:.3g} s")]
    if grade.key is not None:
        versions = grade.key.versions
        pairs += [("versions", f"softmark {versions.softmark}, torch {versions.torch}, Python {versions.python}")]
    return [(label, text) for label, text in pairs if text]
