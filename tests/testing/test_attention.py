"""Attention seen from outside: right ones of any scale pass, those that know nothing do not."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from autograder.testing.attention import assert_best_key_wins, assert_masked, attend
from autograder.testing.cases import Cases
from autograder.testing.mismatch import Mismatch


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, scale: float = 1.0) -> tuple[Tensor, Tensor]:
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]) * scale
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    weights = weights if mask is None else weights * mask
    return weights @ v, weights


def unstable(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    powers = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).exp()
    weights = powers / powers.sum(-1, keepdim=True)
    return weights @ v, weights


def zeros(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    return torch.zeros(*q.shape[:-1], v.shape[-1]), torch.zeros(*q.shape[:-1], k.shape[-2])


def uniform(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    weights = torch.full((*q.shape[:-1], k.shape[-2]), 1 / k.shape[-2])
    return weights @ v, weights


def first_argument(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    return q, q


def half_becomes_nan(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    out, weights = attention(q, k, v)
    return out * torch.nan, weights


def cases() -> Cases:
    return Cases(b"key", "check")


@pytest.mark.parametrize("scale", [1.0, 1 / math.sqrt(11), math.sqrt(11)])
def test_the_best_key_wins_whatever_the_scale(scale: float) -> None:
    assert_best_key_wins(lambda q, k, v: attention(q, k, v, scale=scale), cases())


def test_the_best_key_wins_without_a_stable_softmax_unless_the_score_is_large() -> None:
    assert_best_key_wins(unstable, cases())
    with pytest.raises(Mismatch, match="finite"):
        assert_best_key_wins(unstable, cases(), score=90.0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_the_best_key_wins_in_any_precision(dtype: torch.dtype) -> None:
    assert_best_key_wins(attention, cases(), score=1e4, dtype=dtype)


@pytest.mark.parametrize("wrong", [zeros, uniform, first_argument, half_becomes_nan])
def test_what_knows_nothing_lets_no_key_win(wrong: Callable[..., tuple[Tensor, Tensor]]) -> None:
    with pytest.raises(Mismatch):
        assert_best_key_wins(wrong, cases())


@pytest.mark.parametrize("scale", [1.0, 1 / math.sqrt(11), math.sqrt(11)])
def test_masked_weights_are_the_free_ones_normalised_again_whatever_the_scale(scale: float) -> None:
    drawn = cases()
    for q, k, v in drawn.attention(least_keys=2):
        mask = drawn.mask(*q.shape[:-1], k.shape[-2])
        mask[..., 0, :] = False
        assert_masked(lambda *args: attention(*args, scale=scale), q, k, v, mask)


def not_normalised(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    _, weights = attention(q, k, v)
    weights = weights if mask is None else weights * mask
    return weights @ v, weights


def inverted(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    return attention(q, k, v, None if mask is None else ~mask)


def ignored(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    return attention(q, k, v)


@pytest.mark.parametrize("wrong", [not_normalised, inverted, ignored, first_argument])
def test_a_mask_that_is_read_wrongly_is_found(wrong: Callable[..., tuple[Tensor, Tensor]]) -> None:
    drawn = cases()
    q, k, v = drawn.tensor(5, 11), drawn.tensor(7, 11), drawn.tensor(7, 13)
    with pytest.raises(Mismatch):
        assert_masked(wrong, q, k, v, drawn.mask(5, 7))


def test_a_result_that_is_no_pair_is_told() -> None:
    with pytest.raises(Mismatch, match=r"the 2 values \(out, weights\)"):
        attend(lambda q, k, v: q, torch.ones(2, 3), torch.ones(2, 3), torch.ones(2, 3))
