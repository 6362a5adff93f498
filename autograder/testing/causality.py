"""Which keys a query sees, found by changing keys that it must not see.

By value: change keys and values and compare the outputs. By gradient: pull back the output of one query and look at
which keys get a gradient.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from autograder.testing.gradients import assert_arrives
from autograder.testing.mismatch import Mismatch, places, row_at
from autograder.testing.numbers import assert_close, assert_tensor


def assert_blind(before: Tensor, after: Any, allowed: Tensor, changed: Tensor, what: str, *, within: float) -> None:
    """Only the queries that may attend to a changed key give another output.

    Args:
        before: outputs (..., n_q, d_v), already compared with a number.
        after: outputs after keys and values were changed.
        allowed: (n_q, n_k) boolean, True where the query may attend to the key.
        changed: (n_k,) boolean, True where key and value were changed.
        what: the name of the outputs.
        within: the largest difference allowed for a query that does not see the change: rounding of both results.

    Raises:
        Mismatch: naming a query that saw what it must not see, or that did not see what it may see.
    """
    sees = (allowed & changed).any(dim=-1)
    try:
        assert_close(after, before, what, within=float("inf"))
        assert_close(after[..., ~sees, :], before[..., ~sees, :], what, within=within)
    except Mismatch as mismatch:
        keys = _listed(changed)
        hint = mismatch.hint or f"the output of a query changed when only keys it may not attend to ({keys}) did"
        raise Mismatch(f"{what} of queries {_listed(~sees)}", mismatch.expected, mismatch.got, hint) from None
    moved = (assert_tensor(after, what).double() - before.double()).abs().amax(dim=-1) > within
    if not bool(moved[..., sees].all()):
        raise Mismatch(
            f"{what} of queries {_listed(sees)}",
            "other values, since keys they attend to changed",
            "the same values as before",
            "the mask hides keys that may be seen",
        )


def assert_no_gradient_from_hidden(gradient: Any, allowed: Tensor, query: int, what: str) -> None:
    """The output of one query has no gradient at the keys (or values) hidden from it, and some gradient at the others.

    Entries below 1e-5 of the largest count as rounding: a maximum over all keys that is not detached leaves that much.

    Args:
        gradient: (..., n_k, d), that of one query's output by `what`; None where none flows.
        allowed: (n_q, n_k) boolean.
        query: which query's output was pulled back.
        what: "k" or "v".

    Raises:
        Mismatch: naming the query and a key that reaches it, or saying that none does.
    """
    name = f"gradient of output {query} by {what}"
    values = assert_arrives(gradient, f"{what} (of output {query})")
    size = values.double().abs()
    leak = size * ~allowed[query].unsqueeze(-1)
    if float(leak.max()) > 1e-5 * float(size.max()):
        place = places(leak == leak.max())[0]
        hint = f"query {query} may not attend to key {place[-2]}, so nothing of that key may reach its output"
        raise Mismatch(name, f"zeros at key {place[-2]}", row_at(name, values, place), hint)
    if not bool((size[..., allowed[query], :].flatten(-2) > 0).any(dim=-1).all()):
        raise Mismatch(name, "a gradient at the keys that it may attend to", "zeros")


def _listed(where: Tensor) -> str:
    return ", ".join(str(place) for (place,) in places(where))
