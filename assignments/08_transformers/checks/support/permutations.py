"""Which permutations a layer commutes with, found by trying all of them, and whether that was predicted.

Exact for few tokens: 5 have 120 orders, and all of them fit into one call with a leading axis. Groups are those of the
handout, by name. It makes no layer, and it does not know which group is right for which: the operator that is tried
says so.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any, cast

import torch
from torch import Tensor

from autograder.testing.mismatch import Mismatch, compared, describe

GROUPS = ("none", "cyclic", "automorphisms", "all")


def all_orders(n: int) -> Tensor:
    """Every order of 0 .. n - 1, the identity first: (n!, n) int64."""
    return torch.tensor(list(itertools.permutations(range(n))))


def members(group: str, orders: Tensor, A: Tensor | None) -> Tensor:
    """Which of the orders belong to a group: (orders,) boolean.

    Args:
        group: one of `GROUPS`. "automorphisms" are those that leave A as it is; without an A there are none.
        orders: (orders, n).
        A: (n, n), or None.
    """
    n = orders.shape[1]
    if group == "all":
        return torch.ones(len(orders), dtype=torch.bool)
    if group == "cyclic":
        moved = (orders - torch.arange(n)) % n
        return (moved == moved[:, :1]).all(dim=1)
    if group == "automorphisms" and A is not None:
        return (A[orders[:, :, None], orders[:, None, :]] == A).flatten(1).all(dim=1)
    return (orders == torch.arange(n)).all(dim=1)


def commuting(out: Tensor, orders: Tensor) -> Tensor:
    """Which orders of the tokens only put the outputs in that order: (orders,) boolean.

    Errors below 1e-4 of the largest output count as rounding.

    Args:
        out: (orders, n, d), the outputs for the tokens in each order; the first order is the identity.
        orders: (orders, n).
    """
    moved = out[0][orders]
    return (out - moved).abs().flatten(1).amax(dim=1) <= 1e-4 * float(out[0].abs().max())


def assert_predicted(symmetries: Any, key: str, commutes: Tensor, orders: Tensor, A: Tensor | None = None) -> None:
    """The prediction for one layer is the group that it was found to commute with.

    Args:
        symmetries: the student's predictions, a dict of names of groups.
        key: the name of the layer in it.
        commutes: what `commuting` found for the student's own layer.
        orders: the orders that were tried.
        A: the layer's graph, where it has one.

    Raises:
        Mismatch: with an order that refutes the prediction.
    """
    what = f'SYMMETRIES["{key}"]'
    predicted = _prediction(symmetries, key, what)
    compared(predicted, None, what)
    if predicted not in GROUPS:
        names = ", ".join(f'"{group}"' for group in GROUPS)
        raise Mismatch(what, f"one of {names}", repr(predicted)[:100], "write your prediction into SYMMETRIES")
    if predicted == "automorphisms" and A is None:
        raise Mismatch(what, "a group of this layer", f'"{predicted}"', "there is no A here to leave as it is")
    claimed = members(predicted, orders, A)
    for wrong, told in ((claimed & ~commutes, "does not commute"), (commutes & ~claimed, "also commutes")):
        if bool(wrong.any()):
            order = ", ".join(str(i) for i in cast("list[int]", orders[wrong][0].tolist()))
            group = "that whole group" if told == "does not commute" else "more than that group"
            got = f'"{predicted}", and your own layer {told} with taking the tokens in the order {order}'
            expected = "the largest group that the layer commutes with"
            raise Mismatch(what, expected, got, f"your own layer {told} with {group}")


def assert_not_one_for_all(symmetries: Any, keys: Iterable[str]) -> None:
    """Not all of these predictions are the same. Raises `Mismatch`."""
    words = {str(_prediction(symmetries, key, f'SYMMETRIES["{key}"]')) for key in keys}
    if len(words) == 1:
        hint = "one word for every layer is no prediction"
        raise Mismatch(
            "SYMMETRIES", "layers that differ in what they cannot know", f"{words.pop()!r:.100} for all", hint
        )


def _prediction(symmetries: Any, key: str, what: str) -> Any:
    if not isinstance(symmetries, dict):
        compared(symmetries, None, "SYMMETRIES")
        raise Mismatch("SYMMETRIES", "a dict, as in the starter", describe(symmetries))
    predictions = cast("dict[Any, Any]", symmetries)
    if key not in predictions:
        have = ", ".join(str(name)[:30] for name in predictions) or "none"
        raise Mismatch(what, "a prediction", f"these names: {have}"[:200])
    return predictions[key]
