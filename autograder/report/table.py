"""The table of many grades: submission, points for each part, total, what stood out.

One row for each submission, in the order given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.diagnosis.exception_meanings import is_out_of_memory
from autograder.report.sentences import sentence
from autograder.report.view import is_not_handed_in, is_worth_a_look
from autograder.results import CheckResult, Grade, ImportFailed, Outcome
from autograder.text import one_line

# What a reader of the table should look at, worst first.
_STOOD_OUT: tuple[tuple[Outcome, str], ...] = (
    ("broken", "a check of ours broke:"),
    ("crashed", "crashed:"),
    ("timed_out", "timed out:"),
    ("missing", "lacks a function:"),
    ("not_run", "not run:"),
)
_PLAIN_WIDTH = 160
_TOLD = ("ambiguous: ", "edited: ", "earlier: ", "late: ", "override: ")


class TableRow(NamedTuple):
    """A grade as a row: little is left of it, so that a class of ten thousand fits into memory."""

    submission: str
    points: dict[tuple[int, str], str]
    total: str
    stood_out: str
    style: str


def table_row(grade: Grade) -> TableRow:
    """The row of a grade."""
    total = f"{points_text(None if grade.status == 'ungraded' else grade.points)}/{points_text(grade.maximum)}"
    return TableRow(
        one_line(grade.submission, 60),
        {(p.number, p.part): f"{points_text(p.points)}/{points_text(p.maximum)}" for p in grade.parts},
        total,
        stood_out(grade),
        "" if grade.status == "graded" else "yellow",
    )


def grades_table(rows: Sequence[TableRow]) -> Table:
    """Grades as a rich table; names and reasons are text, never markup."""
    parts = sorted({part for row in rows for part in row.points})
    table = Table(box=None, pad_edge=False, header_style="bold", collapse_padding=True)
    table.add_column("submission", overflow="fold")
    for _, name in parts:
        table.add_column(Text(one_line(name, 40)), justify="right", no_wrap=True)
    table.add_column("total", justify="right", no_wrap=True)
    table.add_column("what stood out", overflow="fold")
    for row in rows:
        points = [row.points.get(part, "-") for part in parts]
        table.add_row(Text(row.submission), *points, row.total, Text(row.stood_out, style=row.style))
    return table


def print_table(rows: Sequence[TableRow], console: Console) -> None:
    """Print the table; where there is no terminal, as plain lines that are not folded to a screen's width."""
    if not console.is_terminal:
        console = Console(file=console.file, width=_PLAIN_WIDTH, color_system=None)
    console.print(grades_table(rows))


def stood_out(grade: Grade) -> str:
    """What a teaching assistant should look at, in a few words; empty for a grade like any other."""
    found = [one_line(note, 200) for note in grade.staff if note.startswith(_TOLD)]
    if grade.status == "ungraded":
        return "; ".join([*found, "ungraded: " + one_line(grade.reason, 200)])
    if grade.status == "incomplete":
        found.append("incomplete" + (f" ({one_line(grade.reason, 120)})" if grade.reason else ""))
    if grade.late is not None and grade.late.percent:
        found.append(f"late: {grade.late.percent:g} % off")
    if grade.checks and all(check.outcome == "missing" for check in grade.checks):
        return "; ".join([*found, "nothing implemented"])
    parts = {part: [c for c in grade.checks if c.part == part] for part in dict.fromkeys(c.part for c in grade.checks)}
    absent, words = _absent(parts)
    unimportable = _unimportable(parts)
    found += [*words, *unimportable.values()]
    silent = {*absent, *unimportable}
    checks = [check for check in grade.checks if check.part not in silent and is_worth_a_look(check)]
    memory = [
        check
        for check in checks
        if check.outcome in ("failed", "crashed", "partial") and is_out_of_memory(check.reason)
    ]
    for outcome, words in _STOOD_OUT:
        numbers = [check.number for check in checks if check.outcome == outcome and check not in memory]
        if numbers:
            found.append(f"{words} {_few(numbers)}")
        if outcome == "crashed" and memory:
            found.append(f"out of memory: {_few(check.number for check in memory)}")
    return "; ".join(found)


def _absent(parts: Mapping[str, Sequence[CheckResult]]) -> tuple[list[str], list[str]]:
    """Parts of which nothing is there, and the words that say so: one phrase for several that were not handed in."""
    absent = [part for part, checks in parts.items() if all(check.outcome == "missing" for check in checks)]
    without = [part for part in absent if is_not_handed_in(parts[part])]
    if len(without) < 2:
        return absent, [f"nothing of {_few(absent)}"] if absent else []
    words = [f"handed in: {_few(part for part in parts if part not in without)}"]
    untouched = [part for part in absent if part not in without]
    return absent, [*words, f"nothing of {_few(untouched)}"] if untouched else words


def _unimportable(parts: Mapping[str, Sequence[CheckResult]]) -> dict[str, str]:
    """Parts that do not import, each with the words that say why."""
    found: dict[str, str] = {}
    for part, checks in parts.items():
        failures = [check.reason for check in checks if isinstance(check.reason, ImportFailed)]
        if len(failures) == len(checks):
            found[part] = f"{one_line(part, 40)}.py does not import: {one_line(sentence(failures[0].why), 160)}"
    return found


def points_text(points: float | None) -> str:
    """Points as people write them: 22, 17.5, and a dash where there are none."""
    return "-" if points is None else f"{points:.2f}".rstrip("0").rstrip(".")


def _few(numbers: Iterable[str], most: int = 6) -> str:
    every = [one_line(number, 20) for number in numbers]
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more
