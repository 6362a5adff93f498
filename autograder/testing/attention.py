"""Properties of every correct attention, whatever its scale.

They give the checks of symmetry, masks, causality and purity a number to compare. So a wrong scale costs only the check
of the scale, and a function that computes nothing fails all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.testing.cases import Cases
from autograder.testing.mismatch import compared
from autograder.testing.numbers import (
    assert_close,
    assert_finite,
    assert_shape,
    assert_tensor,
    attention_bounds,
    parts_of,
    relative_floor,
)
from autograder.testing.stability import one_clear_winner

Attention = Callable[..., Any]


def attend(attention: Attention, *args: Tensor) -> tuple[Any, Any]:
    """Call an attention and unpack its result: (out, weights)."""
    out, weights = parts_of(attention(*args), "out", "weights")
    return out, weights


def assert_best_key_wins(
    attention: Attention, cases: Cases, *, score: float = 60.0, dtype: torch.dtype = torch.float32
) -> None:
    """Where one key matches far better than all others, its weight is 1 and its value is the output.

    Where all keys match equally well, all weights are the same.

    Args:
        attention: (q, k, v) -> (out, weights).
        cases: draws a batch of 2, 5 queries, 7 keys of width 11, values of width 13.
        score: scaled score of the best key; that of the others is 0. exp(60) does not overflow, so the default does
            not require a stable softmax, and exp(-60 / 4) is still rounding, so it does not require an exact scale.
        dtype: of queries, keys and values.
    """
    q, k, winners = one_clear_winner(cases, 2, n_q=5, n_k=7, d=11, score=score, dtype=dtype)
    v = cases.tensor(2, 7, 13, dtype=dtype)
    expected = torch.nn.functional.one_hot(winners, 7).double()
    within = relative_floor(dtype)
    out, weights = attend(attention, q, k, v)
    assert_close(weights, expected, "weights", within=within, dtype=dtype)
    assert_close(out, expected @ v.double(), "out", within=within * float(v.abs().max()), dtype=dtype)
    nowhere = torch.zeros_like(q)
    out, weights = attend(attention, nowhere, k, v)
    within_out, within_weights = attention_bounds(nowhere, k, v)
    assert_close(weights, torch.full((2, 5, 7), 1 / 7), "weights", within=within_weights, dtype=dtype)
    assert_close(out, v.double().mean(-2, keepdim=True).expand(2, 5, 13), "out", within=within_out, dtype=dtype)


def assert_masked(attention: Attention, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> None:
    """The weights under a mask are those without it, with hidden keys set to 0 and the rest scaled to sum to 1.

    Args:
        attention: (q, k, v[, mask]) -> (out, weights).
        q: (..., n_q, d).
        k: (..., n_k, d).
        v: (..., n_k, d_v).
        mask: boolean, broadcastable to (..., n_q, n_k); a row that is all False must give zeros.
    """
    within_out, within_weights = (2 * bound for bound in attention_bounds(q, k, v))
    _, free = attend(attention, q, k, v)
    compared(free, None, "weights")
    known = assert_finite(assert_tensor(free, "weights"), "weights")
    assert_shape(known, (*q.shape[:-1], k.shape[-2]), "weights")
    seen = known.double() * mask
    total = seen.sum(dim=-1, keepdim=True)
    expected = seen / total.masked_fill(total == 0, 1.0)
    out, weights = attend(attention, q, k, v, mask)
    assert_close(weights, expected, "weights", within=within_weights, dtype=q.dtype)
    assert_close(out, expected @ v.double(), "out", within=within_out, dtype=q.dtype)
