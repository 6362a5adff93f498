"""Ids and text: what tokenizers give and take, read in every reasonable form, and compared.

Some comparisons are of the ids themselves, others only of what they stand for: so that a wrong order of merges costs
its own check, and not those of special tokens, streams and errors. It has no encoder in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, cast

import numpy
import torch

from autograder.testing.cases import Cases
from autograder.testing.mismatch import Mismatch, compared, describe


def ids_of(got: Any, what: str = "ids") -> list[int]:
    """Ids as a list of integers: from a list or tuple, a one-dimensional array or tensor.

    Raises:
        Mismatch: saying what is there instead.
    """
    if isinstance(got, (torch.Tensor, numpy.ndarray)):
        values = cast("Any", got.detach().cpu().numpy() if isinstance(got, torch.Tensor) else got)
        if values.ndim != 1 or (values.size and values.dtype.kind not in "iu"):
            raise Mismatch(what, "a list of ids", describe(cast("Any", got)))
        return values.tolist()
    if not isinstance(got, (list, tuple)):
        raise Mismatch(what, "a list of ids", describe(got))
    ids = [_single(number) for number in cast("Sequence[Any]", got)]
    for place, number in enumerate(ids):
        if type(number) is not int:
            raise Mismatch(f"{what}[{place}]", "an id, a single integer", describe(number))
    return ids


def _single(number: Any) -> Any:
    """An id that came as a tensor or array without axes, as a number."""
    has_no_axes = isinstance(number, (torch.Tensor, numpy.ndarray)) and number.ndim == 0
    value = cast("Any", number)
    return value.item() if has_no_axes else value


def assert_ids(got: Any, expected: Sequence[int], vocab: Mapping[int, bytes], what: str = "ids") -> None:
    """These ids and no others.

    Args:
        got: what the student's function gave: any form that `ids_of` reads.
        expected: the ids of the oracle.
        vocab: for the message: what each id stands for.
        what: the name of the value.

    Raises:
        Mismatch: with the tokens around the first id that differs.
    """
    compared(got, list(expected), what)
    ids = ids_of(got, what)
    if ids == list(expected):
        return
    place = next(
        (i for i, (a, b) in enumerate(zip(ids, expected, strict=False)) if a != b), min(len(ids), len(expected))
    )
    raise Mismatch(what, _tokens_at(place, expected, vocab), _tokens_at(place, ids, vocab))


def _tokens_at(place: int, ids: Sequence[int], vocab: Mapping[int, bytes]) -> str:
    first = max(place - 2, 0)
    shown = [
        f"{vocab[number]!r}" if number in vocab else f"{number} (no id of vocab)" for number in ids[first : first + 6]
    ]
    dots = "... " if first else ""
    return f"{len(ids)} ids, {dots}{' '.join(shown) or '(no more)'}{' ...' if len(ids) > first + 6 else ''}"


def assert_units(
    got: Any, expected: Sequence[int], vocab: Mapping[int, bytes], special_tokens: Sequence[str] = (), what: str = "ids"
) -> None:
    """The ids stand for the same text and the same special tokens at the same places as those of the oracle.

    How the text between special tokens is cut into tokens is not asked.

    Args:
        got: what the student's function gave: any form that `ids_of` reads.
        expected: the ids of the oracle.
        vocab: what each id stands for.
        special_tokens: those that are one id here.
        what: the name of the value.

    Raises:
        Mismatch: with text and special tokens as they are and as they should be.
    """
    compared(got, list(expected), what)
    special = {token.encode() for token in special_tokens}
    ours, theirs = (_units(ids, vocab, special) for ids in (expected, ids_of(got, what)))
    if ours != theirs:
        first = next((i for i, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), 0)
        raise Mismatch(what, *(f"{len(units)} pieces: {_shown(units, first)}" for units in (ours, theirs)))


def _units(ids: Sequence[int], vocab: Mapping[int, bytes], special: set[bytes]) -> list[bytes]:
    """Special tokens one by one, and the bytes between them put together."""
    tokens = [vocab.get(number, b"(no id of vocab)") for number in ids]
    units: list[bytes] = []
    for is_special, group in groupby(tokens, key=special.__contains__):
        run = list(group)
        units += run if is_special else [b"".join(run)]
    return units


def _shown(units: Sequence[bytes], first: int) -> str:
    start = max(first - 1, 0)
    words = [repr(unit if len(unit) <= 40 else unit[:40] + b"...") for unit in units[start : start + 4]]
    return f"{'... ' if start else ''}{' '.join(words) or '(none)'}{' ...' if len(units) > start + 4 else ''}"


def assert_text(got: Any, expected: str, what: str = "text") -> None:
    """This string and no other.

    Raises:
        Mismatch: with the characters around the first that differs.
    """
    compared(got, expected, what)
    if not isinstance(got, str):
        raise Mismatch(what, "a string", describe(got))
    if got == expected:
        return
    place = next(
        (i for i, (a, b) in enumerate(zip(got, expected, strict=False)) if a != b), min(len(got), len(expected))
    )
    first = max(place - 8, 0)
    dots = "..." if first else ""
    raise Mismatch(what, *(f"{dots}{text[first : first + 24]!r} ({len(text)} characters)" for text in (expected, got)))


# ------------------------------------------------------------------ drawing


def draw_text(cases: Cases, alphabet: Sequence[str], length: int) -> str:
    """`length` draws from `alphabet`, put together.

    Args:
        cases: of the check.
        alphabet: characters, or longer strings such as words.
        length: how many.
    """
    drawn = cases.integers(length, low=0, high=len(alphabet))
    return "".join(alphabet[int(place)] for place in drawn)
