"""Hints about the size of the numbers: a constant factor or offset, scores that are too large, and what the factor is.

A factor is named only if it equals that size or constant up to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import cast

import torch
from torch import Tensor

from autograder.diagnosis.pair import Hint, Pair, fact, largest, sizes_of

_EQUAL = 2e-4
_CLEARLY = 20
_MOST_NAMES = 3
_CONSTANTS = {
    2.0: "the constant 2",
    10.0: "the constant 10",
    math.e: "e",
    math.pi: "pi",
    math.log(2): "the natural logarithm of 2",
    math.sqrt(2): "the square root of 2",
}


def constant_factor(pair: Pair) -> Hint | None:
    """The result is the expected one times one number."""
    got, expected = pair.got, pair.expected
    heavy = expected.abs() > 0.05 * pair.scale
    if got.shape != expected.shape or int(heavy.sum()) < 2 or pair.distinct(expected) < 2:
        return None
    factor = float((got * expected).sum() / (expected * expected).sum())
    if abs(factor - 1) < 10 * pair.relative or abs(factor) < 1e-6:
        return None
    if not pair.near(got, factor * expected):
        return None
    if abs(factor + 1) < max(_EQUAL, pair.relative):
        return fact("Every number has the wrong sign.")
    name, plain = name_of(factor, pair)
    if not name and (int(heavy.sum()) < 3 or not _of_two_directions(expected)):
        return None
    return Hint(
        f"Your result is {factor:.5g} times the expected one" + _equals(factor, name),
        "Your result is the expected one times a constant" + (f": {plain}." if plain else "."),
    )


def _of_two_directions(values: Tensor) -> bool:
    """Whether the rows are not all multiples of one row: if they are, other causes can give a factor, too."""
    if values.dim() < 2:
        return True
    strengths = cast("Tensor", torch.linalg.svdvals(values.reshape(-1, values.shape[-1])))
    return len(strengths) > 1 and bool(strengths[1] > 1e-2 * strengths[0])


def constant_offset(pair: Pair) -> Hint | None:
    """The result is the expected one plus one number."""
    got, expected = pair.got, pair.expected
    if got.shape != expected.shape or got.numel() < 3 or pair.distinct(expected) < 2:
        return None
    offset = float((got - expected).mean())
    if abs(offset) < max(1e-3, 4 * pair.relative) * pair.scale or not pair.near(got - offset, expected):
        return None
    return Hint(
        f"Every number is {abs(offset):.5g} too {'large' if offset > 0 else 'small'}.",
        f"Every number is too {'large' if offset > 0 else 'small'} by the same amount.",
    )


def same_in_every_row(pair: Pair) -> Hint | None:
    """The result is the expected one plus a vector that all rows share, or a number that all of a row share."""
    got, expected = pair.got, pair.expected
    if got.shape != expected.shape or not pair.telling:
        return None
    for axis, words in ((-2, "Every row is off by the same numbers"), (-1, "Every row is off by a number of its own")):
        if got.dim() < -axis or not pair.enough(got.numel() - got.numel() // got.shape[axis] + 1):
            continue
        off = (got - expected).mean(axis, keepdim=True)
        if largest(off) > _CLEARLY * pair.relative * pair.scale and pair.near(got - off, expected):
            return fact(f"{words}: a term that they share, such as a bias, is left out or added once too often.")
    return None


def factor_of_each_row(pair: Pair, axis: int = -1) -> Hint | None:
    """Each row along `axis` is the expected one times a factor of its own."""
    if pair.got.shape != pair.expected.shape or not pair.telling or not _of_two_directions(pair.expected):
        return None
    got, expected = pair.got.movedim(axis, -1), pair.expected.movedim(axis, -1)
    rows, size = expected.numel() // expected.shape[-1], expected.shape[-1]
    square = (expected * expected).sum(-1, keepdim=True)
    if rows < 2 or size < 2 or not pair.enough(rows * (size - 1) + 1) or not bool((square > 0).any()):
        return None
    factors = (got * expected).sum(-1, keepdim=True) / square.where(square > 0, torch.ones_like(square))
    if not bool(((got - factors * expected).abs() <= pair.relative * factors.abs() * pair.scale).all()):
        return None
    factors = factors[square > 0]
    low, high = float(factors.min()), float(factors.max())
    if low <= 0 or max(abs(low - 1), abs(high - 1)) < _CLEARLY * pair.relative:
        return None
    different = 1 + int((factors.sort().values.diff() > 2 * pair.relative * high).sum())
    why = (
        "rows share factors, so a constant of theirs is wrong"  # a sum has another factor for each row
        if 2 * different <= len(factors)
        else "it is divided by the wrong sum, or rescaled wrongly, or masked after it was normalised"
    )
    return Hint(
        f"Each row is the expected one times a factor of its own, {low:.4g} to {high:.4g}: {why}.",
        f"Each row is the expected one times a factor of its own: {why}.",
    )


_FUNCTIONS: tuple[tuple[str, Callable[[Tensor], Tensor]], ...] = (
    ("the logarithm of", torch.log),
    ("the exponential of", torch.exp),
    ("1 divided by", torch.reciprocal),
    ("the square of", torch.square),
    ("the square root of", torch.sqrt),
    ("the absolute value of", torch.abs),
    ("relu of", torch.relu),
    ("the softmax along the last axis of", lambda x: x.softmax(-1)),
)
_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "gelu": torch.nn.functional.gelu,
    "gelu with tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "silu": torch.nn.functional.silu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
}


def other_function(pair: Pair) -> Hint | None:
    """The result is a function of the expected one, or another activation of an argument."""
    if pair.got.shape != pair.expected.shape or not pair.telling:
        return None
    for words, function in _FUNCTIONS:
        if pair.near(pair.got, function(pair.expected)):
            return fact(f"Your result is {words} the expected one.")
    for argument in pair.arguments.values():
        if isinstance(argument, Tensor) and argument.shape == pair.got.shape and argument.is_floating_point():
            x = argument.detach().cpu().double()
            right = next((name for name, each in _ACTIVATIONS.items() if pair.same(each(x), pair.expected)), "")
            mine = next((name for name, each in _ACTIVATIONS.items() if pair.same(pair.got, each(x))), "")
            if right and mine and right != mine:
                return fact(f"Your numbers are those of {mine}; expected are those of {right}.")
    return None


def all_equal(pair: Pair) -> Hint | None:
    """Every number of the result is the same, though different ones are expected."""
    got = pair.got
    value = float(got.flatten()[0])
    if got.numel() < 3 or not bool((got == value).all()) or pair.distinct(pair.expected) < 2:
        return None
    if value == 0:
        return fact("Every number of your result is 0.")
    name, plain = name_of(value, pair)
    return Hint(
        f"Every number of your result is {value:.5g}" + _equals(value, name),
        "All numbers of your result are the same" + (f": {plain}." if plain else "."),
    )


def scaled_scores(pair: Pair, axis: int) -> Hint | None:
    """The result is the softmax along `axis` of the expected scores times one number c.

    1. With w = softmax(s) and g = softmax(c s), log g = c log w + a constant for each row.
    2. Centre both logarithms in each row, leaving out entries too small for their logarithm to be exact.
    3. Fit c over all rows by least squares. Every entry must lie on the line.
    4. Compute softmax(c log w), and compare it with the result.
    """
    if pair.got.shape != pair.expected.shape or pair.relative > 1e-3:
        return None
    got, expected = pair.got.movedim(axis, -1), pair.expected.movedim(axis, -1)
    exact = (got > 1e-4) & (expected > 1e-4)
    zeros_agree = bool(((got == 0) | (expected > 0)).all())
    spare = int(exact.sum() - exact.any(-1).sum()) - 1
    if spare < 3 or not zeros_agree:
        return None
    log_got, log_expected = _centred(got, exact), _centred(expected, exact)
    spread = float((log_expected**2).sum())
    if spread < 1e-2:
        return None
    factor = float((log_got * log_expected).sum() / spread)
    error = float((log_got - factor * log_expected).abs().max())
    if abs(factor - 1) < 1e-2 or abs(factor) < 1e-3 or error > 2e-3 * largest(log_got):
        return None
    as_scaled = torch.where(expected > 0, factor * expected.clamp_min(1e-300).log(), -torch.inf).softmax(-1)
    if not float((as_scaled.nan_to_num() - got).abs().max()) <= 1e-3:
        return None
    if abs(factor + 1) < _EQUAL * 10:
        return fact("Your weights are those of scores with the opposite sign.")
    name, plain = name_of(factor, pair, within=2e-3)
    return Hint(
        f"Your weights are those of scores that are {factor:.4g} times the expected ones" + _equals(factor, name),
        "Your weights are those of scores times a constant" + (f": {plain}." if plain else "."),
    )


def _centred(values: Tensor, exact: Tensor) -> Tensor:
    """The logarithms minus their mean in each row; 0 for entries that are not exact."""
    logs = torch.where(exact, values.clamp_min(1e-30).log(), 0.0)
    mean = logs.sum(-1, keepdim=True) / exact.sum(-1, keepdim=True).clamp_min(1)
    return torch.where(exact, logs - mean, 0.0)


def _equals(number: float, name: str) -> str:
    return f"; {number:.5g} is {name}." if name and name != f"the constant {number:.5g}" else "."


def name_of(number: float, pair: Pair, within: float = _EQUAL) -> tuple[str, str]:
    """What a number may equal, with and without the numbers of the case; two empty strings where it is nothing known.

    Known are constants (2, e, ...) and sizes of the call, their roots and inverses. A case is small, so a number may
    equal several by chance: all are named, and none where they are more than three. In bfloat16 no number is exact
    enough.
    """
    if pair.relative > 1e-2:
        return "", ""
    within = max(within, pair.relative / 4)
    found = [each for value, *each in _known(pair) if abs(abs(number) - value) <= within * value]
    found = found or [each for value, *each in _ratios(pair) if abs(abs(number) - value) <= within * value]
    if not found or len(found) > _MOST_NAMES:
        return "", ""
    minus = "minus " if number < 0 else ""
    name, plain = (", or ".join(minus + words for words in each) for each in zip(*found, strict=True))
    return name, plain


def _known(pair: Pair) -> Iterator[tuple[float, str, str]]:
    for value, name in _CONSTANTS.items():
        yield value, name, name
        yield 1 / value, f"1 / {name}", f"1 / {name}"
    for size, place in sizes_of({**pair.arguments, "the result": pair.expected}).items():
        for value, words in ((math.sqrt(size), "the square root of "), (size**0.25, "the fourth root of ")):
            yield value, f"{words}{size}, {place}", f"{words}{place}"
            yield 1 / value, f"1 / {words}{size}, {place}", f"1 / {words}{place}"
        if size > 3:  # 2 and 3 have too many other reasons
            yield size, place, place
            yield 1 / size, f"1 / {size}, and {size} is {place}", f"1 / {place}"


def _ratios(pair: Pair) -> Iterator[tuple[float, str, str]]:
    """Roots of one size over another: what is divided by the root of the wrong one is off by that."""
    sizes = {size: place for size, place in sizes_of(pair.arguments).items() if size > 2}
    for size, place in sizes.items():
        for other, its_place in sizes.items():
            if size != other:
                words = f"the square root of {size} / {other}: {place}, and {its_place}"
                yield math.sqrt(size / other), words, f"the square root of {place} over that of {its_place}"


def same_as_argument(pair: Pair) -> Hint | None:
    """The result is one of the arguments, untouched."""
    for name, value in pair.arguments.items():
        if not isinstance(value, Tensor) or value.shape != pair.got.shape or value.numel() < 2:
            continue
        if bool((value.detach().cpu().double() == pair.got).all()) and pair.distinct(pair.got) >= 2:
            return fact(f"Your result is {name}, unchanged.")
    return None
