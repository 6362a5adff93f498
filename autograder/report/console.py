"""One grade in the terminal: as the student sees it, and what staff sees besides.

A check that failed is told in the five lines of `lines`, what many checks have in common once (`shared`), a check that
passed in one line. What other people wrote is `rich.text.Text`: escaped, bounded, and never markup. No line ends in
blanks. Tables of many grades are `table`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.text import Text

from autograder.diagnosis.exception_meanings import what_it_means
from autograder.report.lines import (
    for_students,
    is_hidden,
    labelled,
    printed_for_students,
    printed_text,
    reason_for_students,
)
from autograder.report.shared import Shared, shared
from autograder.report.table import points_text
from autograder.results import CheckResult, Explanation, Grade
from autograder.text import one_line, shown

_PRINTED_CHARACTERS = 1_500
_PRINTED_LINES = 12
_STAFF_CHARACTERS = 4_000
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


def student_view(grade: Grade) -> RenderableType:
    """The grade as its student sees it: points, notes about the files, each check, five lines where one failed."""
    blocks: list[RenderableType] = []
    for checks in _by_part(grade):
        blocks += _part(checks)
    return Group(*_head(grade), *blocks)


def staff_view(grade: Grade) -> RenderableType:
    """What staff sees besides the student's view: facts, and of each check what the student is not told."""
    said = {id(check) for part in _by_part(grade) for group in shared(part) for check in group.checks}
    checks = [_for_staff(check) for check in grade.checks if id(check) not in said]
    return Group(
        Text(f"For staff: {one_line(grade.submission)}", style="bold"),
        *_facts(_staff_facts(grade), 0),
        Text(),
        *(each for each in checks if each is not None),
    )


def print_student_view(grade: Grade, console: Console) -> None:
    """Print `student_view`."""
    console.print(student_view(grade))


def print_staff_view(grade: Grade, console: Console) -> None:
    """Print `staff_view`."""
    console.print(staff_view(grade))


def _by_part(grade: Grade) -> list[list[CheckResult]]:
    parts = dict.fromkeys(check.part for check in grade.checks)
    return [[check for check in grade.checks if check.part == part] for part in parts]


def _head(grade: Grade) -> Iterator[RenderableType]:
    title = Text(one_line(grade.submission), style="bold")
    if grade.status == "ungraded":
        yield title.append(f": could not be graded (out of {points_text(grade.maximum)} points)")
        yield Text(shown(reason_for_students(grade), _STAFF_CHARACTERS, 10), style="yellow")
    else:
        yield title.append(f": {points_text(grade.points)} of {points_text(grade.maximum)} points")
    if grade.status == "incomplete":
        words = "This grade is not complete: not everything could be checked, and the points can still rise."
        yield _Hanging("", Text(words, "yellow"), 0)
    if len(grade.parts) > 1:
        points = [(one_line(p.part), f"{points_text(p.points)} of {points_text(p.maximum)}") for p in grade.parts]
        yield from _facts(points, 0)
    for note in grade.notes:
        yield _Hanging("note: ", one_line(note, 500), 6)
    yield Text()


# ------------------------------------------------------------------ the checks of one part


def _part(checks: Sequence[CheckResult]) -> Iterator[RenderableType]:
    """Why a part does not import first, then check by check, then what is not there."""
    groups = shared(checks)
    said = {id(check) for group in groups for check in group.checks}
    for group in groups:
        if group.failure is not None:
            yield from _does_not_import(group)
    for check in checks:
        if id(check) not in said:
            yield _check(check, for_students(check), printed_for_students(check))
    rest = [group for group in groups if group.failure is None]
    for group in rest:
        yield _together(group)
    if rest:
        yield Text()


def _does_not_import(group: Shared) -> Iterator[RenderableType]:
    assert group.failure is not None
    why = shown(group.failure.why, 500, 6)
    yield _Hanging("", Text(f"{group.sentence}: {why}", style="red"), 0)
    if group.failure.frames:
        yield _Hanging("", shown(group.failure.frames, _PRINTED_CHARACTERS, _PRINTED_LINES), _INDENT)
    meaning = what_it_means([why.partition(":")[0]], why)
    if meaning:
        yield _Hanging("", meaning, _INDENT)
    yield _Hanging("      not run: ", _numbers(group.checks), 15)
    yield Text()


def _together(group: Shared) -> RenderableType:
    first = group.checks[0]
    if group.sentence == "nothing was handed in":
        points = sum(each.weight for each in group.checks)
        return Text(
            f"{one_line(first.part)}: {group.sentence} ({len(group.checks)} checks, {points_text(points)} points)"
        )
    sentence = one_line(group.sentence, 400)
    if first.outcome == "missing" and not any(each.weight for each in group.checks):
        sentence = f"{_BONUS}: {sentence.rpartition(': ')[2]}"
    hint = f" {one_line(group.hint, 200)}" if group.hint else ""
    return _Hanging("", Text(f"{sentence} ({_numbers(group.checks)}){hint}", style="yellow"), 0)


def _numbers(checks: Sequence[CheckResult]) -> str:
    return ", ".join(one_line(check.number, 20) for check in checks)


def _check(check: CheckResult, explanation: Explanation | None, printed: str) -> RenderableType:
    head = Text(f"{one_line(check.number, 20):<6}")
    if check.weight or check.outcome in ("passed", "broken"):
        head.append(f"{_WORDS.get(check.outcome, check.outcome):<10}", style=_STYLES.get(check.outcome, "red"))
        head.append(f"{points_text(check.score)}/{points_text(check.weight)}" if check.weight else "bonus")
    else:
        head.append(_BONUS, style="yellow")
    head.append("  hidden" if is_hidden(check) else "")
    if check.outcome == "passed":
        head.append("  ")
        return _Hanging(head, one_line(check.title), head.cell_len)
    blocks: list[RenderableType] = [head]
    if explanation is None:
        blocks = [_Hanging(head.append("  "), one_line(check.title), head.cell_len)]
    else:
        blocks += _facts(labelled(explanation), _INDENT)
    output = printed_text(printed, _PRINTED_CHARACTERS, _PRINTED_LINES)
    if output:
        blocks.append(_Hanging("", Text(output, style="dim"), _INDENT))
    return Group(*blocks, Text())


def _facts(pairs: Sequence[tuple[str, str]], indent: int) -> list[RenderableType]:
    """Labels in one column, texts in the other, which continue below themselves."""
    column = indent + 2 + max((len(label) for label, _ in pairs), default=0)
    return [_Hanging(Text(" " * indent).append(label, style="dim"), text, column) for label, text in pairs]


# ------------------------------------------------------------------ for staff


def _for_staff(check: CheckResult) -> RenderableType | None:
    """What staff is told of a check and its student is not; None where that is nothing."""
    told = for_students(check)
    seen = _squeezed(" ".join(text for _, text in labelled(told))) if told is not None else ""
    pairs = labelled(check.explanation) if check.explanation is not None else []
    pairs = [(label, text) for label, text in pairs if _squeezed(text) not in seen]
    known = seen + _squeezed(" ".join(text for _, text in pairs))
    if check.explanation is not None:
        known += _squeezed(f"{check.explanation.expected}, got {check.explanation.got}")
    staff = shown(check.staff, _STAFF_CHARACTERS, 40)
    if any(_is_news(line, known) for line in staff.split("\n")):
        pairs.append(("staff", staff))
    if check.outcome in ("timed_out", "crashed"):
        pairs.append(("time", f"{check.cpu_seconds:.3g} s of CPU, {check.wall_seconds:.3g} s in all"))
    hidden_output = check.output if is_hidden(check) and check.outcome != "passed" else ""
    output = printed_text(hidden_output, _PRINTED_CHARACTERS, _PRINTED_LINES)
    if not pairs and not output:
        return None
    head = _Hanging(f"{one_line(check.number, 20):<6}", one_line(check.title), _INDENT)
    blocks = _facts(pairs, _INDENT)
    if output:
        blocks.append(_Hanging("", Text(output, style="dim"), _INDENT))
    return Group(head, *blocks, Text())


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _is_news(line: str, known: str) -> bool:
    """Whether a line of the staff's text says what was not said: not by its words, and not by the five lines."""
    line = line.strip()
    if not line or _squeezed(line) in known:
        return False
    kind, _, rest = line.partition(": ")
    bare = _squeezed(rest if kind.isidentifier() else line)
    if not bare or bare in known:
        return False
    what, _, values = rest.partition(": expected ")  # as a Mismatch is written: each of its pieces is known
    pieces = [what, *values.partition(", got ")[::2]] if values else [bare]
    return not all(_squeezed(piece).rstrip(")").split("(")[0] in known for piece in pieces)


def _staff_facts(grade: Grade) -> list[tuple[str, str]]:
    pairs = [("status", grade.status), ("reason", shown(grade.reason, _STAFF_CHARACTERS, 10))]
    pairs += [("note", one_line(note, 500)) for note in grade.notes]
    pairs += [("staff", shown(line, _STAFF_CHARACTERS, 10)) for line in grade.staff]
    pairs += [("sandbox", ", ".join(f"{one_line(k)}: {one_line(v)}" for k, v in sorted(grade.sandbox.items())))]
    pairs += [("time", f"{grade.wall_seconds:.3g} s")]
    if grade.key is not None:
        versions = grade.key.versions
        pairs += [("versions", f"softmark {versions.softmark}, torch {versions.torch}, Python {versions.python}")]
    return [(label, text) for label, text in pairs if text]
