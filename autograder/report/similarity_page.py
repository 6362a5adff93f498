"""Similar pairs on one HTML page: what they share, side by side. It has no script and fetches nothing."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.report.similarity import Pair, Place
from autograder.text import one_line, visible

_HERE = Path(__file__).parent
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_MOST_LINES = 60
_SAID = (
    "This is a place to look and no verdict. Names, comments and layout are left out of account, and so is what the "
    "handout gives and what many have. Short and obvious code is alike without anybody's doing: read both, and ask."
)


def similarity_page(assignment: str, pairs: Sequence[Pair], texts: Mapping[str, Mapping[str, str]]) -> str:
    """The page, from the files of each submission."""
    style = "".join((_HERE / name).read_text(encoding="utf-8") for name in ("feedback.css", "class_page.css"))
    title = html.escape(f"{one_line(assignment)}: similar submissions")
    body = "".join(_pair(pair, texts) for pair in pairs) or "<p>No pair shares what others do not have.</p>\n"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n<title>{title}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
        f'<style>\n{style}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n<p class="warning">{_SAID}</p>\n'
        f"{body}</main>\n</body>\n</html>\n"
    )


def _pair(pair: Pair, texts: Mapping[str, Mapping[str, str]]) -> str:
    head = html.escape(f"{one_line(pair.left)} and {one_line(pair.right)}: {pair.similarity:.0%}")
    blocks = "".join(
        f'<div class="sides">{_side(block.left, texts[pair.left])}{_side(block.right, texts[pair.right])}</div>\n'
        for block in pair.blocks
    )
    return f"<details>\n<summary>{head}, {len(pair.blocks)} places</summary>\n{blocks}</details>\n"


def _side(place: Place, files: Mapping[str, str]) -> str:
    lines = files[place.file].split("\n")[place.first - 1 : place.last]
    more = f"\n... {len(lines) - _MOST_LINES} more lines" if len(lines) > _MOST_LINES else ""
    label = html.escape(f"{one_line(place.file)}, lines {place.first} to {place.last}")
    text = html.escape(visible("\n".join(line[:300] for line in lines[:_MOST_LINES])) + more)
    return f'<div><p class="who">{label}</p><pre tabindex="0" role="group" aria-label="{label}">{text}</pre></div>'
