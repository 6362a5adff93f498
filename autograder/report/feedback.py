"""A grade as one HTML page: what its student sees, failures first, for a screen, a phone, and paper.

The page has no script and fetches nothing; its policy forbids both. It prints the tree of `view`, so it says of a
hidden check what the terminal and results.json say. Every text is escaped and bounded.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from pathlib import Path

from autograder.report.lines import bounded_lines
from autograder.report.table import points_text
from autograder.report.view import CheckView, PartView, StudentView, Together, student_view
from autograder.results import Grade
from autograder.text import one_line, shown

_STYLE = (Path(__file__).parent / "feedback.css").read_text(encoding="utf-8")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_WORDS = {"timed_out": "timed out", "not_run": "not run", "missing": "not there"}
_BONUS = "bonus, not there yet"
_VALUES = ("expected", "got")
_MOST_PRINTED = (4_000, 40)
_INCOMPLETE = "This grade is not complete: not everything could be checked, and the points can still rise."


def feedback_page(grade: Grade, standing: str = "", block: str = "", pictures: Mapping[str, str] | None = None) -> str:
    """The page of one grade.

    Args:
        grade: what is shown.
        standing: a sentence in the place of the total, where the points are not those of a grade.
        pictures: SVG elements by the number of the check that they belong to.
        block: HTML that somebody else is shown before the checks, such as what staff is told.
    """
    view = student_view(grade)
    title = _text(f"{grade.assignment}: {view.submission}")
    tried_first = sorted(view.parts, key=lambda part: any(group.whole_part for group in part.together))
    failures = "".join(_failures(part, pictures or {}) for part in tried_first)
    passed = "".join(_passed(part) for part in view.parts)
    body = [
        f"<header>\n<h1>{title}</h1>\n{_total(view, standing)}{_parts(view)}{_notes(view)}</header>\n",
        block,
        f'<section aria-labelledby="first">\n<h2 id="first">What to look at</h2>\n{failures}</section>\n'
        * bool(failures),
        f'<section aria-labelledby="passed">\n<h2 id="passed">What passes</h2>\n{passed}</section>\n' * bool(passed),
        _versions(grade),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n<title>{title}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
        f"<style>\n{_STYLE}</style>\n</head>\n<body>\n"
        f'<a class="skip" href="#first">To what to look at</a>\n<main>\n{"".join(body)}</main>\n</body>\n</html>\n'
    )


def _total(view: StudentView, standing: str) -> str:
    if view.status == "ungraded":
        reason = _marked(shown(view.reason, 4_000, 10))
        return f'<p class="total">Could not be graded</p>\n<p class="warning">{reason}</p>\n'
    earned, most = points_text(view.points), points_text(view.maximum)
    total = f'<p class="total">{earned} <small>of {most} points{" here" if standing else ""}</small></p>\n'
    told = f"<p>{_marked(standing)}</p>\n" if standing else ""
    return total + told + (f'<p class="warning">{_INCOMPLETE}</p>\n' if view.status == "incomplete" else "")


def _parts(view: StudentView) -> str:
    """The points of each part, as a table that a screen reader can read; bars are for the eye alone."""
    rows = [
        f'<tr><th scope="row">{_text(one_line(part.part))}</th>'
        f'<td class="number">{points_text(part.points)} of {points_text(part.maximum)}</td><td class="bar" '
        f'aria-hidden="true"><span><i style="width: {_share(part.points, part.maximum)}%"></i></span></td></tr>\n'
        for part in view.totals
    ]
    if view.taken_off:
        rows.append(
            f'<tr><th scope="row">late</th><td class="number">-{points_text(view.taken_off)}</td><td></td></tr>\n'
        )
    if view.added:
        rows.append(
            f'<tr><th scope="row">extra credit</th><td class="number">+{points_text(view.added)}</td><td></td></tr>\n'
        )
    head = '<thead><tr><th scope="col">Part</th><th scope="col">Points</th><td></td></tr></thead>\n'
    return f"<table>\n{head}<tbody>\n{''.join(rows)}</tbody>\n</table>\n" if rows else ""


def _share(points: float, maximum: float) -> int:
    return round(100 * points / maximum) if maximum else 0


def _notes(view: StudentView) -> str:
    items = "".join(f"<li>{_marked(one_line(note, 500))}</li>\n" for note in view.notes)
    return f"<ul>\n{items}</ul>\n" if items else ""


# ------------------------------------------------------------------ checks


def _failures(part: PartView, pictures: Mapping[str, str]) -> str:
    """Why the part does not import before all else, then check by check (a bonus last), then what is not there."""
    imports = [_together(group) for group in part.together if group.import_failed]
    rest = [_together(group) for group in part.together if not group.import_failed]
    failed = sorted((c for c in part.alone if c.outcome != "passed"), key=lambda check: not check.counted)
    told = [_check(check, pictures.get(check.number, "")) for check in failed]
    blocks = [*imports, *told, *rest]
    return f"<h3>{_text(one_line(part.name))}</h3>\n{''.join(blocks)}" if blocks else ""


def _together(group: Together) -> str:
    points = sum(check.counted for check in group.checks)
    head = f"{_BONUS}: {group.function}" if group.function and not points else group.sentence
    numbers = "" if group.whole_part else ", ".join(one_line(check.number, 20) for check in group.checks)
    worth = f"{points_text(points)} points" if points else "no points"
    kind = "failed" if group.import_failed else "missing"
    meaning = group.meaning or group.hint
    return (
        f'<article class="{kind}">\n<h4>{_marked(shown(head, 500, 6))}</h4>\n<p class="verdict">{len(group.checks)} '
        f"check{'s' * (len(group.checks) != 1)}{_text(f' ({numbers})' if numbers else '')}, {worth}</p>\n"
        f"{_pre(group.frames, 'Where it happened')}{f'<p>{_marked(meaning)}</p>' if meaning else ''}</article>\n"
    )


def _check(check: CheckView, picture: str) -> str:
    number = _text(one_line(check.number, 20))
    outcome = _WORDS.get(check.outcome, check.outcome) if check.weight or check.outcome == "broken" else _BONUS
    points = f", {points_text(check.points)} of {points_text(check.weight)} points" if check.weight else ""
    points += " of extra credit" if check.extra else ""
    hidden = ' <span class="hidden">hidden</span>' if check.hidden else ""
    return (
        f'<article class="{check.outcome if check.weight else "missing"}" id="check-{number}">\n'
        f"<h4>{number} {_marked(one_line(check.title))}</h4>\n"
        f'<p class="verdict"><b>{outcome}</b>{points}{hidden}</p>\n{_told(check)}{picture}'
        f"{_pre(check.printed, 'Printed by your code')}</article>\n"
    )


def _told(check: CheckView) -> str:
    if check.told is None:
        return ""
    lines = [(name, text) for name, text in bounded_lines(check.told).items() if text]
    items = [
        f"<dt>{name}</dt>\n<dd{_kind(name)}>{_marked(text)}</dd>\n"
        for name, text in lines
        if name != "property" or text != one_line(check.title)
    ]
    return f"<dl>\n{''.join(items)}</dl>\n" if items else ""


def _kind(name: str) -> str:
    return ' class="value"' if name in _VALUES else ' class="cause"' if name == "cause" else ""


def _pre(text: str, label: str) -> str:
    """A text with lines of its own; who uses a keyboard can scroll it."""
    if not text.strip():
        return ""
    inside = _text(shown(text, *_MOST_PRINTED).strip("\n"))
    return f'<pre tabindex="0" role="group" aria-label="{label}">{inside}</pre>\n'


def _passed(part: PartView) -> str:
    checks = [check for check in part.alone if check.outcome == "passed"]
    items = "".join(
        f"<li><b>{_text(one_line(check.number, 20))}</b><span>{_marked(one_line(check.title))}"
        f"{' <span class=hidden>hidden</span>' if check.hidden else ''}</span>"
        f"<span>{points_text(check.weight) if check.weight else 'bonus'}</span></li>\n"
        for check in checks
    )
    return f'<h3>{_text(one_line(part.name))}</h3>\n<ul class="passed">\n{items}</ul>\n' if checks else ""


def _versions(grade: Grade) -> str:
    if grade.key is None:
        return ""
    used = grade.key.versions
    told = f"Graded with Python {used.python}, torch {used.torch}, Softmark {used.softmark}."
    return f"<footer>{_text(told)}</footer>\n"


# ------------------------------------------------------------------ text


def _text(text: str) -> str:
    return html.escape(text)


def _marked(text: str) -> str:
    """Escaped, with `code` as code: markup of ours alone."""
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", html.escape(text))
