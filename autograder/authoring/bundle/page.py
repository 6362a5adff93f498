"""The handout as one HTML page: formulas as MathML, figures in the page, nothing fetched from anywhere."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any

from autograder.errors import SoftmarkError

_TYPES = {".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg"}
_STYLE = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")


def handout_page(markdown: str, files: Mapping[str, bytes]) -> str:
    """The page that a handout in Markdown makes, with `$...$` and `$$...$$` as mathematics.

    Args:
        markdown: the handout.
        files: by the names that its images have, such as "figures/masks.svg".
    """
    try:
        from latex2mathml.converter import convert
        from markdown_it import MarkdownIt
        from mdit_py_plugins.anchors import anchors_plugin
        from mdit_py_plugins.dollarmath import dollarmath_plugin
    except ImportError as error:
        raise SoftmarkError(
            f"{error.name} is not installed, which makes a page of the handout: pip install 'softmark[release]'."
        ) from None

    def formula(content: str, options: dict[str, Any]) -> str:
        return convert(content, display="block" if options.get("display_mode") else "inline")

    reader = MarkdownIt("commonmark", {"html": True}).enable("table")
    reader.use(dollarmath_plugin, renderer=formula, double_inline=True)
    reader.use(anchors_plugin, max_level=3)
    tokens = reader.parse(markdown)
    headings: list[tuple[int, str, str]] = []
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            headings.append((int(token.tag[1]), str(token.attrs.get("id", "")), tokens[place + 1].content))
        for child in token.children or ():
            if child.type == "image":
                _put_in(child.attrs, files)
    body = reader.renderer.render(tokens, reader.options, {})
    title = html.escape(headings[0][2] if headings else "Handout")
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>\n{_STYLE}</style>\n</head>\n<body>\n{_contents(headings)}<main>\n{_scrolling(body)}</main>\n"
        "</body>\n</html>\n"
    )


def _put_in(attributes: MutableMapping[str, Any], files: Mapping[str, bytes]) -> None:
    """An image's file becomes part of its address."""
    name = str(attributes.get("src", ""))
    if name in files:
        kind = _TYPES.get(Path(name).suffix, "application/octet-stream")
        attributes["src"] = f"data:{kind};base64,{base64.b64encode(files[name]).decode()}"


def _contents(headings: Sequence[tuple[int, str, str]]) -> str:
    lines = [
        f'<li class="level{level}"><a href="#{anchor}">{html.escape(re.sub("[`*]", "", text))}</a></li>\n'
        for level, anchor, text in headings
        if level > 1
    ]
    return (
        f"<nav>\n<details>\n<summary>Contents</summary>\n<ul>\n{''.join(lines)}</ul>\n</details>\n</nav>\n"
        if lines
        else ""
    )


def _scrolling(body: str) -> str:
    """A wide table scrolls by itself, so that the page does not on a phone."""
    return body.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
