"""A class on one HTML page: how it did, which checks and mistakes cost points, what to look at, and everybody.

1. `Class.add` takes one grade after the other and keeps the few facts of it that the page shows.
2. `class_page` writes the page. Sorting and searching are its only script; it fetches nothing, and its policy says so.

Without names (`anonymous`) a submission is a number, and nothing that a student or a platform called it is shown.
"""

from __future__ import annotations

import html
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from autograder.report.table import points_text, stood_out
from autograder.report.view import explained, staff_notes, staff_view
from autograder.results import Grade, number_key
from autograder.text import one_line, shown

_HERE = Path(__file__).parent
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
_BINS = 10
_MOST_NAMED, _MOST_SLOW, _MOST_MISTAKES = 12, 10, 40


class Member(NamedTuple):
    """One submission in the table. Points are None where there is no whole grade."""

    name: str
    people: str
    points: float | None
    maximum: float
    parts: tuple[tuple[int, str, float], ...]
    status: str
    late: float
    seconds: float
    odd: str


@dataclass
class Tally:
    """What one check gave in the class."""

    title: str
    part: str
    outcomes: Counter[str] = field(default_factory=Counter[str])


@dataclass
class Class:
    """The facts of a class, as grades are added."""

    assignment: str = ""
    members: list[Member] = field(default_factory=list[Member])
    checks: dict[str, Tally] = field(default_factory=dict[str, Tally])
    mistakes: defaultdict[str, dict[str, list[str]]] = field(
        default_factory=lambda: defaultdict[str, dict[str, list[str]]](dict)
    )
    ended: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict[str, list[str]](list))
    notes: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def add(self, grade: Grade) -> None:
        """Add one grade."""
        name = grade.submission
        self.assignment = grade.assignment
        self.members.append(
            Member(
                name,
                "; ".join(each.name or each.sid or each.email or each.id for each in grade.submitters),
                grade.points if grade.status == "graded" else None,
                grade.maximum,
                tuple((part.number, part.part, part.points) for part in grade.parts),
                grade.status,
                grade.late.percent if grade.late is not None else 0.0,
                grade.wall_seconds,
                stood_out(grade),
            )
        )
        for check in grade.checks:
            self.checks.setdefault(check.number, Tally(check.title, check.part)).outcomes[check.outcome] += 1
            told = explained(check)
            if told is not None and told.cause and check.outcome in ("failed", "partial"):
                self.mistakes[told.cause].setdefault(name, []).append(check.number)
            if check.outcome in ("crashed", "timed_out", "broken"):
                self.ended[check.outcome].append(f"{name} ({check.number})")
        self.notes += [(name, line) for line in staff_notes(grade)]
        if grade.status != "graded":
            self.notes.append((name, f"{grade.status}: {grade.reason}"))


def class_page(of: Class, *, anonymous: bool = False, link: Callable[[str], str] = lambda _name: "") -> str:
    """The page. `link` gives the address of a submission's own page, or ""."""
    members = of.members
    if anonymous:  # in the order of their names, numbers would tell them
        members = sorted(members, key=lambda member: (-(member.points or 0.0), member.seconds))
    called = {member.name: f"submission {n}" for n, member in enumerate(members, 1)} if anonymous else {}
    graded = [member for member in of.members if member.points is not None]
    title = _text(f"{of.assignment}: {len(of.members)} submissions")
    sections = [
        ("How it went", _summary(graded, of.members) + _distribution(graded)),
        ("Checks, hardest first", _checks(of.checks)),
        ("Mistakes that were recognised", _mistakes(of.mistakes, called)),
        ("What to look at", _look_at(of, called, anonymous)),
        ("Everybody", _table(members, called, link)),
    ]
    body = "".join(
        f'<section id="s{n}">\n<h2>{name}</h2>\n{content}</section>\n' for n, (name, content) in enumerate(sections)
    )
    links = "".join(f'<a href="#s{n}">{name}</a>\n' for n, (name, _) in enumerate(sections))
    style = "".join((_HERE / name).read_text(encoding="utf-8") for name in ("feedback.css", "class_page.css"))
    script = (_HERE / "class_page.js").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n<title>{title}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
        f"<style>\n{style}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n<nav>\n{links}</nav>\n{body}</main>\n"
        f"<script>\n{script}</script>\n</body>\n</html>\n"
    )


def staff_block(grade: Grade, more: Iterable[tuple[str, str]] = ()) -> str:
    """What staff is told of one grade (and `more` facts), as HTML for its page."""
    view = staff_view(grade)
    blocks = [f"<dl>\n{_pairs((*view.facts, *more))}</dl>\n"]
    for check in view.checks:
        printed = f"<pre>{_text(shown(check.printed, 4_000, 40))}</pre>\n" if check.printed.strip() else ""
        head = _text(f"{check.number} {one_line(check.title)}")
        told = f"<h4>{head}</h4>\n<dl>\n{_pairs(check.lines)}</dl>\n{printed}"
        blocks.append(f'<article class="missing">\n{told}</article>\n')
    return f"<section>\n<details>\n<summary>For staff</summary>\n{''.join(blocks)}</details>\n</section>\n"


# ------------------------------------------------------------------ sections


def _summary(graded: Sequence[Member], every: Sequence[Member]) -> str:
    without = len(every) - len(graded)
    facts = [("graded", f"{len(graded)} of {len(every)}" + (f"; {without} without a whole grade" * bool(without)))]
    if graded:
        points = [member.points or 0.0 for member in graded]
        facts.append(("median", f"{points_text(statistics.median(points))} of {points_text(graded[0].maximum)}"))
        facts.append(("mean", points_text(statistics.fmean(points))))
        facts.append(("lowest, highest", f"{points_text(min(points))}, {points_text(max(points))}"))
    return f"<dl>\n{_pairs(facts)}</dl>\n"


def _distribution(graded: Sequence[Member]) -> str:
    """Submissions by tenths of the maximum; full marks are in the last one."""
    if not graded:
        return ""
    bins = Counter(min(_BINS - 1, int(_BINS * (m.points or 0.0) / (m.maximum or 1.0))) for m in graded)
    highest = max(bins.values())
    bars: list[str] = []
    for tenth in range(_BINS):
        height = 160 * bins[tenth] / highest
        x = 70 * tenth
        label = f"{10 * tenth}-{10 * tenth + 10} %"
        bars.append(
            f'<rect x="{x + 5}" y="{180 - height:.1f}" width="60" height="{height:.1f}"></rect>'
            f'<text x="{x + 35}" y="{175 - height:.1f}" text-anchor="middle">{bins[tenth] or ""}</text>'
            f'<text x="{x + 35}" y="198" text-anchor="middle">{label}</text>'
        )
    told = ", ".join(f"{10 * tenth} to {10 * tenth + 10} %: {bins[tenth]}" for tenth in range(_BINS))
    return (
        f'<svg viewBox="0 0 700 204" role="img" aria-label="Submissions by share of the points. {told}">'
        f'<line x1="0" y1="180" x2="700" y2="180"></line>{"".join(bars)}</svg>\n'
    )


def _checks(checks: dict[str, Tally]) -> str:
    def share(number: str) -> float:
        outcomes = checks[number].outcomes
        return outcomes["passed"] / outcomes.total()

    rows: list[str] = []
    for number in sorted(checks, key=lambda number: (share(number), number_key(number))):
        tally = checks[number]
        others = ", ".join(
            f"{count} {outcome.replace('_', ' ')}"
            for outcome, count in tally.outcomes.most_common()
            if outcome != "passed"
        )
        percent = round(100 * share(number))
        rows.append(
            f'<tr><th scope="row">{_text(number)}</th><td>{_text(one_line(tally.title, 120))}</td>'
            f'<td class="number">{percent} %</td><td class="bar" aria-hidden="true"><span><i style="width: {percent}%">'
            f"</i></span></td><td>{_text(others)}</td></tr>\n"
        )
    titles = "".join(f'<th scope="col">{title}</th>' for title in ("Check", "Property", "Passed", "", "Others"))
    body = "".join(rows)
    return f'<div class="wide"><table>\n<thead><tr>{titles}</tr></thead>\n<tbody>\n{body}</tbody>\n</table></div>\n'


def _mistakes(mistakes: dict[str, dict[str, list[str]]], called: dict[str, str]) -> str:
    """Causes by how many submissions have them; who, and in which checks."""
    if not mistakes:
        return "<p>None.</p>\n"
    items: list[str] = []
    for cause in sorted(mistakes, key=lambda cause: (-len(mistakes[cause]), cause))[:_MOST_MISTAKES]:
        numbers = sorted({n for each in mistakes[cause].values() for n in each}, key=number_key)
        who = _few([called.get(name, name) for name in mistakes[cause]])
        items.append(
            f"<li><b>{len(mistakes[cause])}</b> {_text(one_line(cause, 400))} "
            f'<span class="who">({_text(", ".join(numbers))}: {_text(who)})</span></li>\n'
        )
    return f"<ul>\n{''.join(items)}</ul>\n"


def _look_at(of: Class, called: dict[str, str], anonymous: bool) -> str:
    blocks: list[str] = []
    for outcome, title in (("broken", "Checks of ours that broke"), ("crashed", "Crashes"), ("timed_out", "Time-outs")):
        names = [_renamed(each, called) for each in of.ended[outcome]]
        if names:
            blocks.append(_folded(f"{title}: {len(names)}", [", ".join(names)]))
    slow = sorted(of.members, key=lambda member: -member.seconds)[:_MOST_SLOW]
    lines = [f"{called.get(member.name, member.name)}: {member.seconds:.1f} s" for member in slow]
    blocks.append(_folded("The slowest", lines))
    if not anonymous and of.notes:
        lines = [f"{name}: {one_line(note, 400)}" for name, note in of.notes]
        blocks.append(_folded(f"Notes, ambiguous hand-ins, overrides: {len(lines)}", lines))
    return "".join(blocks)


def _renamed(text: str, called: dict[str, str]) -> str:
    name, _, number = text.rpartition(" ")
    return f"{called.get(name, name)} {number}"


def _folded(title: str, lines: Iterable[str]) -> str:
    items = "".join(f"<li>{_text(line)}</li>\n" for line in lines)
    return f"<details>\n<summary>{_text(title)}</summary>\n<ul>\n{items}</ul>\n</details>\n"


def _table(members: Sequence[Member], called: dict[str, str], link: Callable[[str], str]) -> str:
    parts = sorted({(number, name) for member in members for number, name, _ in member.parts})
    titles = ["submission", "people", *(name for _, name in parts), "total", "status", "late %", "seconds", "odd"]
    head = "".join(f'<th scope="col"><button type="button">{_text(one_line(t, 40))}</button></th>' for t in titles)
    rows = "".join(_row(member, parts, called, link) for member in members)
    return (
        '<p><label>Search <input id="search" type="search" placeholder="a name, a check, crashed, late"></label> '
        f'<span id="count" role="status">{len(members)} of {len(members)}</span></p>\n'
        f'<div class="wide"><table id="all">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n'
    )


def _row(member: Member, parts: Sequence[tuple[int, str]], called: dict[str, str], link: Callable[[str], str]) -> str:
    name = _text(one_line(called.get(member.name, member.name), 80))
    address = "" if called else link(member.name)
    points = {(number, part): each for number, part, each in member.parts}
    numbers = [*(points.get(part) for part in parts), member.points]
    cells = [
        f'<td>{f"""<a href="{_text(address)}">{name}</a>""" if address else name}</td>',
        f"<td>{'' if called else _text(one_line(member.people, 120))}</td>",
        *(_number(each) for each in numbers),
        f"<td>{member.status}</td>",
        _number(member.late or None),
        _number(round(member.seconds, 1)),
        f'<td class="odd">{"" if called else _text(one_line(member.odd, 300))}</td>',
    ]
    return f"<tr>{''.join(cells)}</tr>\n"


def _number(value: float | None) -> str:
    shown_as = "" if value is None else points_text(value)
    return f'<td class="number" data-value="{"" if value is None else value}">{shown_as}</td>'


def _pairs(pairs: Iterable[tuple[str, str]]) -> str:
    return "".join(f"<dt>{_text(name)}</dt>\n<dd>{_text(shown(text, 4_000, 40))}</dd>\n" for name, text in pairs)


def _few(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(one_line(name, 60) for name in names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _text(text: str) -> str:
    return html.escape(one_line(text, 5_000) if "\n" not in text else text)
