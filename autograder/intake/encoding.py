"""A source file in whatever encoding it was saved -> UTF-8 with LF, and a note where that took a guess.

Nothing is lost that Python itself would have kept: a byte order mark and CR LF mean nothing to it. It does not repair a
file: NUL bytes and the like stay, and the import says what is wrong with them.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

COOKIE = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*(?P<name>[-\w.]+)", re.ASCII)
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark begins it
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
PLAIN_CODECS = re.compile(
    r"ascii|utf-8|iso8859-\d+|latin-?1|cp(?:125\d|437|85\d|866|932|936|949|950)|koi8-[rut]|mac-(?:roman|cyrillic)"
    r"|gbk|gb2312|gb18030|big5(?:hkscs)?|euc[-_](?:jp|kr)|shift_jis(?:x0213|_2004)?"
)


class Source(NamedTuple):
    """`text` with LF line ends and no byte order mark. `note` says to the student what was unusual, or is empty."""

    text: str
    note: str

    @property
    def data(self) -> bytes:
        """The text in UTF-8."""
        return self.text.encode("utf-8", "surrogatepass")


def read_source(data: bytes, name: str) -> Source:
    """Decode a source file. `name` is for the note. Every sequence of bytes can be read, so this raises nothing."""
    text, encoding, unsure = _decoded(data)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if unsure:
        line = data[: _first_odd_byte(data)].count(b"\n") + 1
        note = (
            f"{name} is not UTF-8 (line {line}); it was read as {encoding}, so letters beyond ASCII may be wrong. "
            f"Save it as UTF-8."
        )
    elif encoding.startswith(("UTF-16", "UTF-32")):
        note = f"{name} is saved as {encoding}, which Python does not run; it was read all the same. Save it as UTF-8."
    else:
        note = ""
    return Source(_with_utf8_cookie(text), note)


def _decoded(data: bytes) -> tuple[str, str, bool]:
    """The text, the name of its encoding, and whether that is a guess."""
    for mark, codec in MARKS:
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(codec), codec.upper().removesuffix("-LE").removesuffix("-BE"), False
            except UnicodeDecodeError:
                break
    if (wide := _unmarked_utf16(data)) is not None:
        return wide, "UTF-16", False
    data = data.removeprefix(codecs.BOM_UTF8)
    for codec in (_declared(data), "utf-8"):
        try:
            return data.decode(codec), codec.upper(), False
        except UnicodeDecodeError:
            continue
    try:
        return data.decode("cp1252"), "Windows-1252", True
    except UnicodeDecodeError:
        return data.decode("latin-1"), "Latin-1", True


def _unmarked_utf16(data: bytes) -> str | None:
    """UTF-16 without its mark: every other byte of mostly-ASCII text is NUL, which no other text file is."""
    if len(data) < 4 or len(data) % 2 or b"\0" not in data:
        return None
    for codec, high in (("utf-16-le", data[1::2]), ("utf-16-be", data[0::2])):
        if high.count(0) > 0.7 * len(high):
            try:
                text = data.decode(codec)
            except UnicodeDecodeError:
                continue
            return text if "\0" not in text else None
    return None


def _declared(data: bytes) -> str:
    """The encoding that a PEP 263 comment in the first two lines declares, if it is a usual one; else UTF-8."""
    match = _cookie(data[:2000].decode("latin-1"))
    if match is None:
        return "utf-8"
    try:
        codec = codecs.lookup(match["name"]).name
    except LookupError:
        return "utf-8"
    return codec if PLAIN_CODECS.fullmatch(codec) else "utf-8"


def _cookie(text: str) -> re.Match[str] | None:
    first, _, rest = text.partition("\n")
    if match := COOKIE.match(first):
        return match
    if first.strip() and not first.lstrip().startswith("#"):
        return None
    return COOKIE.match(text, len(first) + 1, len(first) + 1 + len(rest.partition("\n")[0]))


def _with_utf8_cookie(text: str) -> str:
    """The text with its encoding declaration, if any, saying utf-8: that is what it is from here on."""
    match = _cookie(text)
    return text if match is None else f"{text[: match.start('name')]}utf-8{text[match.end('name') :]}"


def _first_odd_byte(data: bytes) -> int:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return 0
