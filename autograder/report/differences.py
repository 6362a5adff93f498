"""Two runs compared, for a terminal: whose grade changes, the checks that say so, and what each check changes in all.

It compares nothing (`autograder.report.comparison` does). For staff: findings of hidden checks are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from autograder.report.comparison import Change, CheckChange, Comparison, Verdict
from autograder.report.table import points_text
from autograder.text import one_line

_PLAIN_WIDTH = 160
_FEW = 8


def print_differences(comparison: Comparison, console: Console) -> None:
    """Print the table, what each check changes, and the last line. Plain lines where there is no terminal."""
    if not console.is_terminal:
        console = Console(file=console.file, width=_PLAIN_WIDTH, color_system=None)
    if comparison.between:
        console.print(Text(f"between the runs differ: {'; '.join(comparison.between)}\n"))
    changed = sorted(comparison.of("changed"), key=lambda change: (-abs(change.points or 0.0), change.submission))
    if changed:
        console.print(_changes_table(changed))
        console.print()
    if comparison.checks:
        console.print(_checks_table(comparison))
        console.print()
    for line in _others(comparison):
        console.print(Text(line))
    console.print(Text(last_line(comparison)))


def last_line(comparison: Comparison) -> str:
    """How many grades change, and how many do not: every submission of either run is counted once."""
    changed = comparison.of("changed")
    points = [change.points for change in changed if change.points is not None]
    rise, fall = [each for each in points if each > 0], [each for each in points if each < 0]
    counts = [
        f"{len(changed)} of {len(comparison.changes)} grades change",
        f"{len(rise)} up (most {signed(max(rise))})" if rise else "0 up",
        f"{len(fall)} down (most {signed(min(fall))})" if fall else "0 down",
        f"{len(comparison.of('same points', 'same'))} the same",
    ]
    for kind in ("added", "missing", "unreadable"):
        found = comparison.of(kind)
        counts += [f"{len(found)} {kind}"] * bool(found)
    return " · ".join(counts)


def signed(points: float | None) -> str:
    """A difference of points: +1, -0.5, and a question mark where it cannot be told."""
    return "?" if points is None else "0" if not points else f"{'+' if points > 0 else ''}{points_text(points)}"


def _changes_table(changes: Sequence[Change]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", collapse_padding=True)
    table.add_column("submission", overflow="fold")
    for column in ("old", "new", "change"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("why", overflow="fold")
    for change in changes:
        why = [*change.why, *(line for check in change.checks if _counts(check) for line in _check_lines(check))]
        old, new = (points_text(points) for points in (change.old, change.new))
        name = Text(one_line(change.submission, 60))
        table.add_row(name, old, new, signed(change.points), Text("\n".join(why) or "its points were set otherwise"))
    return table


def _counts(check: CheckChange) -> bool:
    """Whether it changes more than its words."""
    before, after = check.before, check.after
    if before is None or after is None:
        return True
    return (before.outcome, before.score, before.weight) != (after.outcome, after.score, after.weight)


def _check_lines(check: CheckChange) -> list[str]:
    """A check's change, then what it found before and what it finds now."""
    lines = [f"{check.number}  {_outcome(check.before)} -> {_outcome(check.after)}  {signed(check.points)}"]
    if check.before is not None and check.after is not None and check.before.weight != check.after.weight:
        lines[0] += f"  weight {points_text(check.before.weight)} -> {points_text(check.after.weight)}"
    before, after = _found(check.before), _found(check.after)
    if before == after:
        return lines + [f"     found: {before}"] * bool(before)
    return [
        *lines,
        *[f"     before: {before}"] * bool(before),
        *[f"     now: {after}"] * bool(after),
    ]


def _outcome(verdict: Verdict | None) -> str:
    return "not there" if verdict is None else verdict.outcome.replace("_", " ")


def _found(verdict: Verdict | None) -> str:
    return "" if verdict is None else verdict.finding


def _checks_table(comparison: Comparison) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", collapse_padding=True)
    table.add_column("check")
    for column in ("up", "down", "other words", "points"):
        table.add_column(column, justify="right")
    for check in comparison.checks:
        counts = (str(check.rise), str(check.fall), str(check.other))
        table.add_row(Text(one_line(check.number, 20)), *counts, signed(check.points))
    return table


def _others(comparison: Comparison) -> Iterable[str]:
    """Submissions that are in no table, and those of which nobody can tell what changes."""
    words = {
        "added": f"only in {comparison.new}",
        "missing": f"only in {comparison.old}, so that their grade would be gone",
        "same points": "the same points for other reasons",
    }
    for kind, what in words.items():
        names = [change.submission for change in comparison.changes if change.kind == kind]
        if names:
            yield f"{what}: {_few(names)}"
    for change in comparison.of("unreadable"):
        yield f"{one_line(change.submission, 60)}: {'; '.join(change.why)}"
    partly = [change.submission for change in comparison.changes if not change.whole]
    if partly:
        yield f"no whole grade in {comparison.new}, compared only in the checks that ran in both: {_few(partly)}"


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _FEW} more" if len(names) > _FEW else ""
    return ", ".join(one_line(name, 60) for name in names[:_FEW]) + more
