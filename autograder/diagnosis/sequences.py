"""Hints about text, bytes and lists of ids that are not the expected ones: cut short, in another order, all one too
large, decoded piece by piece. Every hint is verified on the whole of both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, cast

from autograder.diagnosis.pair import Hint, fact

_MOST = 100_000
_FEWEST = 3
_REPLACEMENT = "\ufffd"


def about_sequences(got: Any, expected: Any) -> Hint | None:
    """What is wrong with text, bytes or a list of numbers, strings or bytes; None where nothing is sure."""
    if isinstance(expected, str):
        return _about_text(got, expected)
    if not isinstance(expected, (list, tuple, bytes)) or not isinstance(got, (list, tuple, bytes)):
        return None
    mine, right = list(cast("Sequence[Any]", got)), list(cast("Sequence[Any]", expected))
    if max(len(mine), len(right)) > _MOST or mine == right or not right:
        return None
    if not all(isinstance(each, Hashable) for each in (*mine, *right)):
        return None
    return _about_items(mine, right)


def _about_text(got: Any, expected: str) -> Hint | None:
    if isinstance(got, bytes) and got == expected.encode(errors="surrogatepass"):
        return fact("The bytes are right, but a string is asked for: decode them.")
    if not isinstance(got, str) or got == expected:
        return None
    if got == expected.encode(errors="surrogatepass").decode("latin-1"):
        return fact("Each byte became a character of its own; text is UTF-8, where a character may take several bytes.")
    mine, right = got.count(_REPLACEMENT), expected.count(_REPLACEMENT)
    if mine > right:
        why = "bytes that are no whole character were decoded by themselves, or something was replaced by it"
        return fact(f"Your text has more U+FFFD than the expected one: {why}.")
    if mine < right and got == expected.replace(_REPLACEMENT, ""):
        return fact("Bytes that are no UTF-8 are left out of your text; each malformed part should become U+FFFD.")
    for words, changed in (
        ("in lower case", expected.lower()),
        ("without the space around it", expected.strip()),
        ("with each run of space made one", " ".join(expected.split())),
        ("with other line ends", expected.replace("\r\n", "\n")),
    ):
        if got == changed:
            return fact(f"Your text is the expected one {words}.")
    return _about_items(list(got), list(expected))


def _about_items(got: list[Any], expected: list[Any]) -> Hint | None:
    if not got:
        return None
    if len(got) < len(expected) and got == expected[: len(got)]:
        return fact("What is there is right, but the end is missing.")
    if len(got) < len(expected) and got == expected[-len(got) :]:
        return fact("What is there is right, but the beginning is missing.")
    if len(got) > len(expected) and got[: len(expected)] == expected:
        return fact("Something is added after the right end.")
    if len(expected) < _FEWEST:
        return None
    if got == expected[::-1]:
        return fact("Everything is there, but in reverse.")
    if got == list(dict.fromkeys(expected)):
        return fact("What comes a second time is left out.")
    if Counter(got) == Counter(expected):
        return fact("Everything is there, but in another order.")
    if all(type(each) is int for each in (*got, *expected)) and len(got) == len(expected):
        steps = {mine - right for mine, right in zip(got, expected, strict=True)}
        if len(steps) == 1:
            (step,) = steps
            return Hint(
                f"Every number is {abs(step)} too {'large' if step > 0 else 'small'}.",
                f"Every number is too {'large' if step > 0 else 'small'} by the same amount.",
            )
    return None
