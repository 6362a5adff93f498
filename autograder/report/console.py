"""One grade in the terminal: as the student sees it, and what staff sees besides.

It prints the trees of `view`. What other people wrote is `rich.text.Text`: escaped, bounded, and never markup. No line
ends in blanks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.text import Text

from autograder.report.lines import labelled, printed_text
from autograder.report.table import points_text
from autograder.report.view import CheckView, PartView, StaffCheck, StudentView, Together, staff_view, student_view
from autograder.results import Grade
from autograder.text import one_line, shown

_PRINTED_CHARACTERS = 1_500
_PRINTED_LINES = 12
_STAFF_CHARACTERS = 4_000
_STAFF_LINES = 40
_INDENT = 6
_NARROWEST = 20

_STYLES = {"passed": "green", "partial": "yellow", "broken": "magenta", "not_run": "yellow"}
_WORDS = {"timed_out": "timed out", "not_run": "not run"}
_BONUS = "bonus, not there yet"


class _Hanging:
    """A head and, beside it, a text that continues below itself from column `column` on."""

    def __init__(self, head: Text | str, text: Text | str, column: int) -> None:
        self._head = Text(head) if isinstance(head, str) else head
        self._text = Text(text) if isinstance(text, str) else text
        self._column = column

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        room = max(_NARROWEST, options.max_width - self._column)
        for index, line in enumerate(self._text.wrap(console, room, overflow="fold")):
            head = self._head.copy() if index == 0 else Text()
            head.append(" " * (self._column - head.cell_len))
            head.append_text(line)
            head.rstrip()
            yield head


def print_student_view(grade: Grade, console: Console) -> None:
    """Print the grade as its student sees it: points, notes about the files, and each check."""
    view = student_view(grade)
    console.print(Group(*_head(view), *(block for part in view.parts for block in _part(part))))


def print_staff_view(grade: Grade, console: Console, more: Sequence[tuple[str, str]] = ()) -> None:
    """Print what staff sees besides: facts (and `more` of them), and of each check what the student is not told."""
    view = staff_view(grade)
    head = Text(f"For staff: {one_line(view.submission)}", style="bold")
    console.print(Group(head, *_facts(_bounded((*view.facts, *more)), 0), Text(), *map(_for_staff, view.checks)))


def _head(view: StudentView) -> Iterator[RenderableType]:
    title = Text(one_line(view.submission), style="bold")
    if view.status == "ungraded":
        yield title.append(f": could not be graded (out of {points_text(view.maximum)} points)")
        yield Text(shown(view.reason, _STAFF_CHARACTERS, 10), style="yellow")
    else:
        yield title.append(f": {points_text(view.points)} of {points_text(view.maximum)} points")
    if view.status == "incomplete":
        words = "This grade is not complete: not everything could be checked, and the points can still rise."
        yield _Hanging("", Text(words, "yellow"), 0)
    if len(view.totals) > 1 or view.added:
        points = [(one_line(p.part), f"{points_text(p.points)} of {points_text(p.maximum)}") for p in view.totals]
        if view.taken_off:
            points.append(("late", f"-{points_text(view.taken_off)}"))
        if view.added:
            points.append(("extra credit", f"+{points_text(view.added)}"))
        yield from _facts(points, 0)
    for note in view.notes:
        yield _Hanging("note: ", one_line(note, 500), 6)
    yield Text()


# ------------------------------------------------------------------ the checks of one part


def _part(part: PartView) -> Iterator[RenderableType]:
    """Why a part does not import first, then check by check, then what is not there."""
    for group in part.together:
        if group.import_failed:
            yield from _does_not_import(group, _numbers(group.checks))
    yield from map(check_block, part.alone)
    rest = [group for group in part.together if not group.import_failed]
    for group in rest:
        yield _together(part.name, group)
    if rest:
        yield Text()


def _does_not_import(group: Together, numbers: str) -> Iterator[RenderableType]:
    yield _Hanging("", Text(shown(group.sentence, 500, 6), style="red"), 0)
    for text in (shown(group.frames, _PRINTED_CHARACTERS, _PRINTED_LINES), group.meaning):
        if text:
            yield _Hanging("", text, _INDENT)
    if numbers:
        yield _Hanging("      not run: ", numbers, 15)
    yield Text()


def together_block(group: Together) -> Iterator[RenderableType]:
    """What is said once of several checks, when the first of them is there."""
    if group.import_failed:
        yield from _does_not_import(group, "")
    else:
        hint = f". {one_line(group.hint, 200)}" if group.hint else ""
        yield _Hanging("", Text(f"{one_line(group.sentence, 400)}{hint}", style="yellow"), 0)


def _together(part: str, group: Together) -> RenderableType:
    points = sum(check.counted for check in group.checks)
    if group.whole_part:
        count = f"{len(group.checks)} checks, {points_text(points)} points"
        return Text(f"{one_line(part)}: {group.sentence} ({count})")
    missing = group.function and not points
    sentence = one_line(f"{_BONUS}: {group.function}" if missing else group.sentence, 400)
    hint = f" {one_line(group.hint, 200)}" if group.hint else ""
    return _Hanging("", Text(f"{sentence} ({_numbers(group.checks)}){hint}", style="yellow"), 0)


def _numbers(checks: Sequence[CheckView]) -> str:
    return ", ".join(one_line(check.number, 20) for check in checks)


def check_block(check: CheckView) -> RenderableType:
    """One check: its number, what became of it, and what is said of it."""
    head = Text(f"{one_line(check.number, 20):<6}")
    if check.weight or check.outcome in ("passed", "broken"):
        head.append(f"{_WORDS.get(check.outcome, check.outcome):<10}", style=_STYLES.get(check.outcome, "red"))
        head.append(f"{points_text(check.points)}/{points_text(check.weight)}" if check.weight else "bonus")
        head.append(" extra credit" if check.extra else "")
    else:
        head.append(_BONUS, style="yellow")
    head.append("  hidden" if check.hidden else "")
    if check.outcome == "passed" or check.told is None:
        head.append("  ")
        title = _Hanging(head, one_line(check.title), head.cell_len)
        return title if check.outcome == "passed" else Group(title, *_printed(check.printed), Text())
    return Group(head, *_facts(labelled(check.told), _INDENT), *_printed(check.printed), Text())


def _printed(text: str) -> list[RenderableType]:
    output = printed_text(text, _PRINTED_CHARACTERS, _PRINTED_LINES)
    return [_Hanging("", Text(output, style="dim"), _INDENT)] if output else []


def _facts(pairs: Sequence[tuple[str, str]], indent: int) -> list[RenderableType]:
    """Labels in one column, texts in the other, which continue below themselves."""
    column = indent + 2 + max((len(label) for label, _ in pairs), default=0)
    return [_Hanging(Text(" " * indent).append(label, style="dim"), text, column) for label, text in pairs]


# ------------------------------------------------------------------ for staff


def _for_staff(check: StaffCheck) -> RenderableType:
    head = _Hanging(f"{one_line(check.number, 20):<6}", one_line(check.title), _INDENT)
    return Group(head, *_facts(_bounded(check.lines), _INDENT), *_printed(check.printed), Text())


def _bounded(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(label, shown(text, _STAFF_CHARACTERS, _STAFF_LINES)) for label, text in pairs]
