"""Invariance and permutation equivariance.

A function that always returns the same has every symmetry, so compare a number in the same check, too.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from autograder.testing.mismatch import Mismatch
from autograder.testing.numbers import assert_close


def assert_invariant(before: Tensor, after: Any, what: str, *, under: str, within: float) -> None:
    """`after` equals `before` up to rounding.

    Args:
        before: the result for the inputs as they were, already compared with a number.
        after: the result for the changed inputs.
        what: the name of the result.
        under: what was done to the inputs: "adding the same vector to every key".
        within: the largest error allowed, rounding of both results together.

    Raises:
        Mismatch: saying which change should have changed nothing.
    """
    try:
        assert_close(after, before, what, within=within)
    except Mismatch as mismatch:
        hint = mismatch.hint or f"{under} should change nothing"
        raise Mismatch(f"{what} after {under}", mismatch.expected, mismatch.got, hint) from None


def assert_equivariant(
    before: Tensor, after: Any, order: Tensor, dim: int, what: str, *, under: str, within: float
) -> None:
    """`after` is `before` with its entries along `dim` taken in `order`.

    Args:
        before: the result for the inputs as they were, already compared with a number.
        after: the result for the inputs in `order`.
        order: (n,) indices.
        dim: the axis of the result that should be in the new order.
        what: the name of the result.
        under: what was done to the inputs: "taking the queries in another order".
        within: the largest error allowed, rounding of both results together.

    Raises:
        Mismatch: saying that the result should have been put in the same order, and nothing else.
    """
    try:
        assert_close(after, before.index_select(dim, order), what, within=within)
    except Mismatch as mismatch:
        hint = mismatch.hint or f"{under} should put {what} in that order and change nothing else"
        raise Mismatch(f"{what} after {under}", mismatch.expected, mismatch.got, hint) from None
