"""The reference of part 5, the oracle of its checks, is attention: held against all scores at once, in float64."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from torch import Tensor

from autograder.worker.loader import Loader

EFFICIENT = Loader(Path(__file__).resolve().parents[2] / "solutions" / "08_transformers", ["efficient"]).load(
    "efficient"
)


def at_once(q: Tensor, k: Tensor, v: Tensor, allowed: Tensor) -> Tensor:
    scores = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).masked_fill(~allowed, -1e300)
    return (scores.softmax(-1) * allowed) @ v


def draw(n_q: int, n_k: int) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(n_q * 100 + n_k)
    sizes = ((n_q, 11), (n_k, 11), (n_k, 13))
    return tuple(torch.randn(2, *s, generator=generator, dtype=torch.float64).requires_grad_() for s in sizes)


@pytest.mark.parametrize("name", ["chunked_attention", "flash_attention"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("n_q", "n_k"), [(5, 7), (7, 5), (1, 4), (6, 6)])
@pytest.mark.parametrize("chunk", [1, 2, 4, 100])
def test_chunks_give_what_all_scores_give_by_value_and_gradient(
    name: str, causal: bool, n_q: int, n_k: int, chunk: int
) -> None:
    inputs = draw(n_q, n_k)
    allowed = torch.ones(n_q, n_k, dtype=torch.bool)
    expected = at_once(*inputs, allowed.tril(n_k - n_q) if causal else allowed)
    got = getattr(EFFICIENT, name)(*inputs, chunk, causal)
    torch.testing.assert_close(got, expected)
    cotangent = torch.linspace(-1, 1, expected.numel(), dtype=torch.float64).view_as(expected)
    pulled = [torch.autograd.grad(out, inputs, cotangent, allow_unused=True) for out in (got, expected)]
    for gradient, oracle in zip(*pulled, strict=True):
        torch.testing.assert_close(gradient, oracle)


@pytest.mark.parametrize(("n_q", "n_k"), [(0, 3), (3, 0)])
def test_no_query_or_no_key_is_no_special_case(n_q: int, n_k: int) -> None:
    assert torch.equal(EFFICIENT.chunked_attention(*draw(n_q, n_k), 2), torch.zeros(2, n_q, 13, dtype=torch.float64))


@pytest.mark.parametrize(("n", "window"), [(6, 1), (6, 3), (6, 9), (200, 65), (300, 64)])
def test_a_window_gives_what_a_mask_over_all_scores_gives(n: int, window: int) -> None:
    inputs = draw(n, n)
    places = torch.arange(n)
    distance = places.unsqueeze(-1) - places
    expected = at_once(*inputs, (distance >= 0) & (distance < window))
    torch.testing.assert_close(EFFICIENT.sliding_window_attention(*inputs, window), expected)


def test_equal_scores_average_the_values() -> None:
    k, v = torch.tensor([[1.0, 2.0], [3.0, -1.0]]), torch.tensor([[2.0], [4.0]])
    assert EFFICIENT.chunked_attention(torch.zeros(1, 2), k, v, 1).tolist() == [[3.0]]
