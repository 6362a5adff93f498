"""Text of somebody else's is visible, bounded, and cannot forge anything."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.text import bounded, one_line, shown, visible

every_text = st.text(st.characters(), max_size=300)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[2J\x1b[31mred", r"\x1b[2J\x1b[31mred"),
        ("\x9b31m", r"\x9b31m"),
        ("passed\rfailed", r"passed\x0dfailed"),
        ("abc\b\b\bxyz", r"abc\x08\x08\x08xyz"),
        ("\x00", r"\x00"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("a\u2066b\u2069c\u200fd", r"a\u2066b\u2069c\u200fd"),
        ("zero\u200bwidth\ufeff", r"zero\u200bwidth\ufeff"),
        ("line\u2028separator", r"line\u2028separator"),
        ("\ud800", r"\ud800"),
        ("\U000e0041", r"\U000e0041"),
    ],
)
def test_a_character_that_could_forge_is_shown_as_its_escape(text: str, expected: str) -> None:
    assert visible(text) == expected


@pytest.mark.parametrize(
    "text", ["plain", "two\nlines", "a\ttab", "naïve 你好 жук 🎉 e\u0301", "replaced \ufffd", r"\x1b[31m"]
)
def test_ordinary_text_in_any_language_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_windows_line_ends_become_newlines() -> None:
    assert visible("a\r\nb\r\n") == "a\nb\n"


def test_a_tower_of_combining_marks_is_cut_down() -> None:
    text = visible("e" + "\u0301" * 50)
    assert text.startswith("e\u0301\u0301\u0301\\u0301")
    assert text.count("\u0301") == 3


@given(every_text)
def test_nothing_that_controls_or_hides_is_left(text: str) -> None:
    left = {unicodedata.category(character) for character in visible(text) if character not in "\n\t"}
    assert left.isdisjoint({"Cc", "Cf", "Cs", "Zl", "Zp"})


@given(every_text)
def test_showing_visible_text_again_changes_nothing(text: str) -> None:
    assert visible(visible(text)) == visible(text)


@given(every_text)
def test_visible_text_can_always_be_written_as_utf_8(text: str) -> None:
    assert visible(text).encode("utf-8").decode("utf-8") == visible(text)


@given(every_text, st.integers(0, 200), st.none() | st.integers(1, 10))
def test_bounded_text_keeps_to_its_bounds(text: str, characters: int, lines: int | None) -> None:
    result = bounded(text, characters, lines)
    assert len(result) <= characters
    if lines is not None and len(text) <= characters:
        assert result.count("\n") < lines


def test_bounded_text_keeps_its_beginning_and_its_end_and_says_how_much_is_missing() -> None:
    text = "start " + "x" * 10_000 + " end"
    result = bounded(text, 200)
    assert result.startswith("start ") and result.endswith(" end")
    assert "characters left out" in result


def test_lines_left_out_are_counted() -> None:
    text = "\n".join(str(number) for number in range(100))
    assert bounded(text, 10_000, 10).split("\n") == [*"012345", "[... 91 lines left out ...]", "97", "98", "99"]


@pytest.mark.parametrize("lines", [1, 2, 3])
def test_few_lines_are_few(lines: int) -> None:
    assert bounded("a\nb\nc\nd\ne", 10_000, lines).count("\n") == lines - 1


def test_short_text_is_not_bounded() -> None:
    assert bounded("short", 5) == "short"


@given(st.text(st.sampled_from("\x1b\u202e\U000e0041"), max_size=500), st.integers(0, 100))
def test_escapes_count_towards_the_bound(text: str, characters: int) -> None:
    assert len(shown(text, characters)) <= characters


@given(every_text)
def test_one_line_is_one_line(text: str) -> None:
    assert "\n" not in one_line(text) and "\t" not in one_line(text)
    assert len(one_line(text)) <= 200
