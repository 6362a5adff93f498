"""Every legal formula passes every bound, and draws of `stability` are what they say."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from autograder.testing.cases import Cases
from autograder.testing.numbers import assert_close, attention_bounds, rounding, softmax_bound
from autograder.testing.stability import all_scores_low, one_clear_winner

LOG2_E = math.log2(math.e)
DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
DRAWS = 20


def by_maximum(x: Tensor) -> Tensor:
    powers = (x - x.amax(-1, keepdim=True)).exp()
    return powers / powers.sum(-1, keepdim=True)


def by_logarithm(x: Tensor) -> Tensor:
    return (x - x.logsumexp(-1, keepdim=True)).exp()


def by_powers_of_two(x: Tensor) -> Tensor:
    scaled = x * LOG2_E
    powers = torch.exp2(scaled - scaled.amax(-1, keepdim=True))
    return powers * (1 / powers.sum(-1, keepdim=True))


def by_float64(x: Tensor) -> Tensor:
    return torch.softmax(x.double(), -1).to(x.dtype)


SOFTMAXES = (by_maximum, by_logarithm, by_powers_of_two, by_float64)


def scaled_queries(q: Tensor, k: Tensor) -> Tensor:
    return (q / math.sqrt(q.shape[-1])) @ k.transpose(-2, -1)


def scaled_both(q: Tensor, k: Tensor) -> Tensor:
    root = q.shape[-1] ** -0.25
    return (q * root) @ (k * root).transpose(-2, -1)


def scaled_scores_in_float32(q: Tensor, k: Tensor) -> Tensor:
    return q @ k.transpose(-2, -1) * torch.rsqrt(torch.tensor(float(q.shape[-1]))).to(q.dtype)


def summed_products(q: Tensor, k: Tensor) -> Tensor:
    return (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1) / math.sqrt(q.shape[-1])


SCORES = (scaled_queries, scaled_both, scaled_scores_in_float32, summed_products)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("softmax", SOFTMAXES)
def test_every_legal_softmax_passes_its_bound(softmax: Callable[[Tensor], Tensor], dtype: torch.dtype) -> None:
    cases = Cases(b"key", "softmax")
    for _ in range(DRAWS):
        x = cases.tensor(3, 7, dtype=dtype, scale=0.3 if dtype.itemsize == 2 else 3.0)
        assert_close(softmax(x), by_maximum(x.double()), "softmax", within=softmax_bound(x), dtype=dtype)
        if dtype.itemsize > 2:
            x = x + 10_000.0
            assert_close(softmax(x), by_maximum(x.double()), "softmax", within=softmax_bound(x), dtype=dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("softmax", SOFTMAXES)
@pytest.mark.parametrize("scores", SCORES)
def test_every_legal_attention_passes_its_bounds(
    scores: Callable[[Tensor, Tensor], Tensor], softmax: Callable[[Tensor], Tensor], dtype: torch.dtype
) -> None:
    cases = Cases(b"key", "attention")
    for _ in range(DRAWS):
        for q, k, v in cases.attention(dtype, scale=0.5 if dtype.itemsize == 2 else 1.0, most_axes=3):
            expected = by_maximum(summed_products(q.double(), k.double()))
            weights = softmax(scores(q, k))
            within_out, within_weights = attention_bounds(q, k, v)
            assert_close(weights, expected, "weights", within=within_weights, dtype=dtype)
            assert_close(weights @ v, expected @ v.double(), "out", within=within_out, dtype=dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_a_clear_winner_takes_all_in_every_legal_formula(dtype: torch.dtype) -> None:
    cases = Cases(b"key", "winner")
    for _ in range(DRAWS):
        q, k, winners = one_clear_winner(cases, 2, n_q=5, n_k=7, d=11, score=1e4, dtype=dtype)
        top = summed_products(q.double(), k.double()).gather(-1, winners.unsqueeze(-1))
        assert bool((top > 9.8e3).all()) and bool((top < 1.02e4).all())
        assert dtype != torch.float16 or float((q.double() @ k.double().transpose(-2, -1)).abs().max()) < 6e4
        expected = torch.nn.functional.one_hot(winners, 7).double()
        for scores in SCORES:
            for softmax in SOFTMAXES:
                assert_close(softmax(scores(q, k)), expected, "weights", within=4 * rounding(dtype), dtype=dtype)


def test_more_orthogonal_keys_than_dimensions_are_refused() -> None:
    with pytest.raises(ValueError, match="7 orthogonal keys do not fit into 5 dimensions"):
        one_clear_winner(Cases(b"key", "winner"), n_q=2, n_k=7, d=5, score=1.0)


def test_low_scores_lie_below_and_apart_and_all_queries_prefer_the_same_key() -> None:
    cases = Cases(b"key", "low")
    for _ in range(DRAWS):
        q, k, best = all_scores_low(cases, n_q=5, n_k=7, d=11, score=-3e4, step=500.0)
        scores = summed_products(q.double(), k.double())
        assert float(scores.max()) < -2.9e4
        assert scores.argmax(-1).tolist() == [best] * 5
        two_best = scores.topk(2, dim=-1).values
        assert float((two_best[:, 0] - two_best[:, 1]).min()) > 400
