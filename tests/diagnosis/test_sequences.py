"""Hints about text, bytes and ids."""

from __future__ import annotations

from typing import Any

import pytest

from tests.diagnosis.attention_values import hint


@pytest.mark.parametrize(
    ("got", "expected", "words"),
    [
        ("a\ufffd\ufffdb", "a\u00e9b", "more U+FFFD"),
        ("ab", "a\ufffdb", "left out of your text"),
        (b"ab", "ab", "a string is asked for"),
        ("\u00e9".encode().decode("latin-1"), "\u00e9", "Each byte became a character of its own"),
        ("low lower", "Low LOWER", "in lower case"),
        ("a b", " a b\n", "without the space around it"),
        ([3, 1], [3, 1, 4, 1], "the end is missing"),
        ([4, 1], [3, 1, 4, 1], "the beginning is missing"),
        ([3, 1, 4, 1, 0], [3, 1, 4, 1], "added after the right end"),
        ([1, 4, 1, 3], [3, 1, 4, 1], "in reverse"),
        ([3, 1, 4], [3, 1, 4, 1], "the end is missing"),
        ([3, 1, 4, 5], [3, 1, 1, 4, 3, 5], "a second time"),
        ([1, 3, 4, 1], [3, 1, 4, 1], "in another order"),
        ([4, 2, 5, 2], [3, 1, 4, 1], "Every number is 1 too large"),
        ([(b"b", b"a"), (b"c", b"a"), (b"a", b"a")], [(b"c", b"a"), (b"b", b"a"), (b"a", b"a")], "in another order"),
    ],
)
def test_what_is_wrong_with_a_sequence_is_told(got: Any, expected: Any, words: str) -> None:
    assert words in hint(got, expected)


@pytest.mark.parametrize(
    ("got", "expected"),
    [("abc", "abd"), ([1, 2, 3], [7, 9, 8]), ([], [1]), ([1], []), ("", "a"), (None, "a"), (3, [3]), ([[1]], [[2]])],
)
def test_of_unrelated_sequences_nothing_is_said(got: Any, expected: Any) -> None:
    assert hint(got, expected) == ""
