"""Hints about values that should add up to 1 along an axis (softmax, attention weights), and about masks.

They apply only where the expected values are weights or booleans. The mask itself is not needed: where an expected
weight is 0, the query may not attend to the key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from autograder.diagnosis.factors import factor_of_each_row, scaled_scores
from autograder.diagnosis.pair import Hint, Pair, axis_name, fact, rows_listed

_FEWEST = 6
"""With fewer entries, two patterns of zeros match too often by accident."""


def about_weights(pair: Pair) -> Hint | None:
    """What is wrong with weights, where the expected values are weights."""
    if pair.got.shape != pair.expected.shape:
        return None
    for axis in _axes_of_weights(pair.expected):
        for look in _LOOKS:
            hint = look(pair, axis)
            if hint is not None:
                return hint
    return None


def about_empty_rows(pair: Pair) -> Hint | None:
    """Exactly the rows that should be 0 are not, or some rows are 0 and should not be; everything else is right."""
    if pair.got.shape != pair.expected.shape or pair.got.dim() < 2 or pair.distinct(pair.expected) < 3:
        return None
    right = ((pair.got - pair.expected).abs() <= pair.relative * pair.scale).all(-1)
    for rows, words in (
        ((pair.expected == 0).all(-1), "should be 0 (queries that may attend to nothing) and are not"),
        ((pair.got == 0).all(-1), "are 0 and should not be"),
    ):
        if bool(rows.any()) and not bool(rows.all()) and bool((right == ~rows).all()):
            rest = f"{words}; everything else is right."
            return Hint(f"Rows {rows_listed(rows)} {rest}", f"Some rows {rest}")
    return None


def about_masks(got: Tensor, expected: Tensor) -> Hint | None:
    """What is wrong with a boolean mask."""
    if got.shape != expected.shape or expected.dtype != torch.bool:
        return None
    if got.dtype != torch.bool:
        return _mask_of_numbers(got.double(), expected)
    if expected.numel() < _FEWEST or bool(expected.all()) or not bool(expected.any()):
        return None
    if bool((got == ~expected).all()):
        return fact("Every entry is the opposite of the expected one: True and False are exchanged.")
    if bool(got.all()) or not bool(got.any()):
        return fact(f"Every entry of your mask is {bool(got.any())}.")
    band = _band(expected)
    for kind, words in (("lower", "j <= i"), ("upper", "j >= i")):
        mine = _band(got)
        if band is not None and band[0] == "lower" and mine is not None and mine[0] == kind:
            return Hint(
                f"Your mask is True where {words}{_plus(mine[1])}; "
                f"expected is j <= i{_plus(band[1])} (row i, column j).",
                "Your mask has its diagonal in another place or direction.",
            )
    if got.dim() >= 2 and got.shape[-1] == got.shape[-2] and bool((got.transpose(-1, -2) == expected).all()):
        return fact("Your mask is the transpose of the expected one: rows and columns are exchanged.")
    return None


def _plus(number: int) -> str:
    """What follows a term: " + 2", " - 1", and nothing for 0."""
    return f" {'+' if number > 0 else '-'} {abs(number)}" if number else ""


def _mask_of_numbers(got: Tensor, expected: Tensor) -> Hint | None:
    """The mask is right, but written in numbers."""
    if bool((got == expected.double()).all()):
        return fact("The mask is right, but holds the numbers 0 and 1, not True and False.")
    if bool((got == torch.where(expected, 0.0, -torch.inf)).all()):
        return fact("Your mask holds 0 and -inf, to be added to scores; one of True and False is asked for.")
    return None


def _axes_of_weights(expected: Tensor) -> Iterator[int]:
    """Axes (the last one first) along which everything is at least 0 and adds up to 1, or is 0 throughout."""
    if not bool((expected >= 0).all()):
        return
    for axis in reversed(range(expected.dim())):
        if expected.shape[axis] > 1 and _adds_up(expected, axis):
            yield axis


def _adds_up(values: Tensor, axis: int) -> bool:
    sums = values.sum(axis)
    one = (sums - 1).abs() <= 1e-3
    return bool((one | (values.abs().amax(axis) == 0)).all()) and bool(one.any())


def _zero_where_not(pair: Pair, axis: int) -> Hint | None:
    zero, allowed = pair.got == 0, pair.expected != 0
    if allowed.numel() < _FEWEST or not bool(allowed.any()) or bool(allowed.all()):
        return None
    if not bool((zero == allowed).all()):
        return None
    return fact("Your weights are 0 exactly where they should not be, as with True and False of the mask exchanged.")


def _as_if_no_mask(pair: Pair, axis: int) -> Hint | None:
    """With the entries that should be 0 set to 0, and the rest scaled to add up to 1, the weights are right."""
    forbidden = pair.expected == 0
    if not bool((pair.got[forbidden] > 1e-3).any()) or bool((pair.got < 0).any()):
        return None
    kept = torch.where(forbidden, 0.0, pair.got)
    sums = kept.sum(axis, keepdim=True)
    if not _adds_up(pair.got, axis) or pair.distinct(pair.expected) < 3:
        return None
    if not pair.near(kept / sums.where(sums > 0, torch.ones_like(sums)), pair.expected):
        return None
    seen = int((forbidden & (pair.got > 0)).sum())
    return Hint(
        f"{seen} of {int(forbidden.sum())} weights that should be 0 are not, "
        "and the others are right but for that, as if no mask had been used there.",
        "Weights that should be 0 are not, and the others are right but for that, as if no mask had been used there.",
    )


def _too_much_is_masked(pair: Pair, axis: int) -> Hint | None:
    """Some weights are 0 and should not be; the others are right, but for being scaled to add up to 1 again."""
    missing = (pair.got == 0) & (pair.expected != 0)
    kept = torch.where(missing, 0.0, pair.expected)
    sums = kept.sum(axis, keepdim=True)
    if not bool(missing.any()) or pair.distinct(kept) < 3 or not bool((sums > 0).any()):
        return None
    if not pair.near(torch.where(sums > 0, kept / sums.where(sums > 0, torch.ones_like(sums)), pair.got), pair.got):
        return None
    causal = axis == pair.got.dim() - 1 and bool((missing == (pair.expected != 0).triu(1)).all())
    which = "all those of later keys, as under a causal mask" if causal else "as if they were masked"
    return fact(f"Weights are 0 that should not be ({which}), and the others are right but for that.")


def _over_other_axis(pair: Pair, axis: int) -> Hint | None:
    if bool((pair.got < 0).any()) or any(_adds_up(pair.got, each) for each in _axes_of_weights(pair.expected)):
        return None
    for other in range(pair.got.dim()):
        if other != axis and pair.got.shape[other] > 1 and _adds_up(pair.got, other):
            mine, theirs = axis_name(other, pair.got.dim()), axis_name(axis, pair.got.dim())
            return Hint(
                f"Your weights add up to 1 along {mine}, not along {theirs}, as after a softmax over the wrong axis.",
                "Your weights add up to 1 along the wrong axis, as after a softmax over the wrong axis.",
            )
    return None


def _without_softmax(pair: Pair, axis: int) -> Hint | None:
    if pair.distinct(pair.expected) < 3 or pair.near(pair.got.exp(), pair.expected):  # the logarithm, told elsewhere
        return None
    if pair.near(pair.got.softmax(axis), pair.expected) and not _adds_up(pair.got, axis):
        return fact("The softmax of your result would be right: you returned the scores.")
    if pair.near(pair.got, pair.expected.softmax(axis)):
        return fact("Your result is the softmax of the expected one: softmax is taken twice.")
    return None


def _not_normalised(pair: Pair, axis: int) -> Hint | None:
    return None if _adds_up(pair.got, axis) else factor_of_each_row(pair, axis)


def _band(mask: Tensor) -> tuple[str, int] | None:
    """("lower", a) for a mask that is j <= i + a in its last two axes, ("upper", a) for j >= i + a, else None."""
    if mask.dim() < 2:
        return None
    n_q, n_k = mask.shape[-2:]
    full = torch.ones(n_q, n_k, dtype=torch.bool)
    for diagonal in range(-n_q + 1, n_k):
        if bool((mask == full.tril(diagonal)).all()):
            return "lower", diagonal
        if bool((mask == full.triu(diagonal)).all()):
            return "upper", diagonal
    return None


_LOOKS: tuple[Callable[[Pair, int], Hint | None], ...] = (
    _zero_where_not,
    _as_if_no_mask,
    _too_much_is_masked,
    _over_other_axis,
    _without_softmax,
    scaled_scores,
    _not_normalised,
)
