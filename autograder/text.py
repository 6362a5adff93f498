"""Text that somebody else wrote (a student's prints, messages, file names), made safe to show.

Characters that move the cursor, colour, reverse, hide or join text are replaced by a visible escape such as `\\x1b`
or `\\u202e`, and the length is bounded. It does not touch HTML or rich markup: results.json declares its texts as
plain text, and the console prints them as `rich.text.Text`, which has no markup.
"""

from __future__ import annotations

import math
import re

# What can forge: C0 and C1 controls (but newline and tab), lone surrogates, line and paragraph separators, direction
# marks, zero-width and other invisible format characters, fillers that look like nothing, noncharacters, tags.
_FORGING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# Three marks on a letter are a language; dozens climb over the lines above.
_MARKS = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_TOO_MANY_MARKS = re.compile(f"(?<={_MARKS}{{3}}){_MARKS}+")


def _escape(match: re.Match[str]) -> str:
    return "".join(_escaped(character) for character in match.group())


def _escaped(character: str) -> str:
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def visible(text: str) -> str:
    """The text with everything that could forge replaced by a visible escape.

    Newlines and tabs stay, CRLF becomes a newline. Idempotent. The result can always be encoded as UTF-8.
    """
    text = _FORGING.sub(_escape, text.replace("\r\n", "\n"))
    return _TOO_MANY_MARKS.sub(_escape, text)


def bounded(text: str, characters: int, lines: int | None = None) -> str:
    """The beginning and the end of the text, at most so many characters (and lines); what lies between is counted."""
    if lines is not None:
        text = _bounded_lines(text, lines)
    if len(text) <= characters:
        return text
    room = characters - len(f"\n[... {len(text):,} characters left out ...]\n")
    if room < 20:
        return text[: max(0, characters - 3)] + "..."[:characters]
    head = room * 2 // 3
    tail = room - head
    return f"{text[:head]}\n[... {len(text) - room:,} characters left out ...]\n{text[len(text) - tail :]}"


def _bounded_lines(text: str, lines: int) -> str:
    every = text.split("\n")
    if len(every) <= lines:
        return text
    head = math.ceil((lines - 1) * 2 / 3)
    tail = max(0, lines - 1 - head)
    left_out = len(every) - head - tail
    return "\n".join([*every[:head], f"[... {left_out:,} lines left out ...]", *every[len(every) - tail :]])


def shown(text: str, characters: int, lines: int | None = None) -> str:
    """Visible and bounded: what to call on any text of somebody else's. The work is bounded as well."""
    return bounded(visible(bounded(text, characters, lines)), characters, lines)


def one_line(text: str, characters: int = 200) -> str:
    """Shown on one line: runs of white space become one blank."""
    return shown(" ".join(shown(text, 2 * characters).split()), characters).replace("\n", " ")
