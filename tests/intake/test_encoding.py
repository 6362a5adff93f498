"""A source file in any encoding becomes UTF-8, and the student is told where that took a guess."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.intake.encoding import read_source

TEXT = "# Größe, 変換\nx = 'é'\n"
GERMAN = "# Größe\nx = 'é'\n"


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        TEXT.replace("\n", "\r\n").encode(),
        TEXT.replace("\n", "\r").encode(),
        codecs.BOM_UTF8 + TEXT.replace("\n", "\r\n").encode(),
    ],
)
def test_marks_and_line_ends_change_nothing_and_are_not_spoken_of(data: bytes) -> None:
    assert read_source(data, "attention.py") == (TEXT, "")


@pytest.mark.parametrize(
    ("mark", "codec", "said"),
    [
        (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
        (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
        (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32"),
        (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32"),
        (b"", "utf-16-le", "UTF-16"),
        (b"", "utf-16-be", "UTF-16"),
    ],
)
def test_wide_encodings_are_read_and_spoken_of(mark: bytes, codec: str, said: str) -> None:
    text, note = read_source(mark + GERMAN.replace("\n", "\r\n").encode(codec), "attention.py")
    assert text == GERMAN
    assert note.startswith(f"attention.py is saved as {said}, which Python does not run")


def test_a_mark_before_what_is_no_utf8_does_not_stay() -> None:
    assert read_source(codecs.BOM_UTF8 + b"# Gr\xf6\xdfe\n", "a.py").text == "# Größe\n"


@pytest.mark.parametrize(("codec", "spelling"), [("latin-1", "latin-1"), ("cp1252", "windows-1252"), ("gbk", "gb2312")])
def test_a_declared_encoding_is_believed_and_the_declaration_corrected(codec: str, spelling: str) -> None:
    text = f"#!/usr/bin/python\n# -*- coding: {spelling} -*-\nx = '{'变' if codec == 'gbk' else 'é'}'\n"
    source = read_source(text.encode(codec), "a.py")
    assert source == (text.replace(spelling, "utf-8"), "")
    assert compile(source.data, "a.py", "exec")


def test_a_declaration_that_lies_does_not_spoil_the_file() -> None:
    text = "# coding: ascii\nx = 'é'\n"
    assert read_source(text.encode(), "a.py") == (text.replace("ascii", "utf-8"), "")


@pytest.mark.parametrize("name", ["no-such-codec", "unicode_escape", "rot13", "zlib", "utf-7", "punycode", "../x"])
def test_an_odd_declaration_decodes_nothing(name: str) -> None:
    text = f"# coding: {name}\nx = '\\u0041+AGE-'\n"
    assert read_source(text.encode(), "a.py").text.splitlines()[1] == text.splitlines()[1]


def test_a_declaration_in_the_third_line_is_none() -> None:
    text = "x = 1\n\n# coding: latin-1\n"
    assert read_source(text.encode(), "a.py").text == text


def test_latin_1_is_read_and_spoken_of_with_its_line() -> None:
    text, note = read_source(b"x = 1\n# Gr\xf6\xdfe\n", "attention.py")
    assert text == "x = 1\n# Größe\n"
    assert note.startswith("attention.py is not UTF-8 (line 2); it was read as Windows-1252")


@given(st.binary(max_size=200))
def test_every_sequence_of_bytes_becomes_utf8(data: bytes) -> None:
    source = read_source(data, "a.py")
    assert "\r" not in source.text
    assert source.data.decode("utf-8", "surrogatepass") == source.text


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=200))
def test_utf8_text_stays_what_python_would_read(text: str) -> None:
    read = read_source(text.encode(), "a.py").text
    assert read == text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n") or "coding" in text
