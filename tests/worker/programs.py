"""Programs that the allocation model is tried on: what parts 2 and 5 ask for, and others."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from autograder.worker.loader import Loader

SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions" / "08_transformers"
_PARTS = Loader(SOLUTIONS, ["attention", "efficient"])
ATTENTION, EFFICIENT = _PARTS.load("attention"), _PARTS.load("efficient")
N, D = 96, 16

KEPT: list[Tensor] = []


def naive(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), -1) @ v


def views(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q.transpose(-2, -1).reshape(-1) + k.flatten()).view_as(v)[..., ::2, :].clone()


def in_place(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q + k).mul_(v).exp_().add_(1.0)


def out_argument(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.mul(q, k, out=torch.empty_like(v))


def resized(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    x = torch.empty(0)
    x.resize_(4000)
    x.untyped_storage().resize_(32_000)
    return q + k


def grown_input(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    q.untyped_storage().resize_(64_000)
    return k + v


def kept_in_a_global(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    KEPT.append(q @ k.transpose(-2, -1))
    return KEPT[-1] @ v


def reference_cycle(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    cycle: list[Any] = [q + k]
    cycle.append(cycle)
    return v * 2


def data_replaced(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    x = q + k
    x.data = torch.cat((x, v), dim=-1)
    return x


def looped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return sum((q[..., i : i + 8, :] * k[..., i : i + 8, :] for i in range(0, q.shape[-2], 8)), torch.zeros(8, D))


def masked(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = torch.einsum("...id,...jd->...ij", q, k)
    return scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -math.inf).softmax(-1) @ v


def half(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q.half() + k.half()).float().double().sum(-1)


def summed_up(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return q.flatten().view(1, -1).expand(3, -1).cumsum(-1).flip(-1)


def gathered(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return q[..., torch.arange(0, q.shape[-2], 3), :] - torch.where(k > 0, k, v)[..., ::3, :]


def layered(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.layer_norm(torch.relu(q @ torch.eye(D)), (D,)) + torch.nn.functional.gelu(k) * torch.sigmoid(v)


def checkpointed(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    out = checkpoint(naive, q, k, v, use_reentrant=False, preserve_rng_state=False)
    assert isinstance(out, Tensor)
    return out


def mapped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.vmap(lambda a, b: (a * b).sum(-1))(q[0, 0], k[0, 0])


def clipped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.cat([q.clamp(min=0), k.abs(), v.sign()], dim=-1).roll(1, -2).split(D, dim=-1)[1] * 2


def stacked(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.stack([q, k, v]).cumsum(0).unbind(0)[-1] - nn.functional.pad(v, (0, 0, 3, 3)).unfold(-2, 7, 1).mean(-1)


def picked(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return q.max(-2, keepdim=True).values + k.gather(-2, PLACES) * v.index_select(-2, torch.arange(0, N, 3))


def written_by_rows(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    out = torch.zeros_like(q)
    for i in range(0, N, 8):
        out[..., i : i + 8, :] = q[..., i : i + 8, :] * k[..., i : i + 8, :]
    return out + v


def multi_head(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return MODULE(q[0])[0]


def multi_head_grouped_and_rotated(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return GROUPED(q[0], context=None, mask=ATTENTION.causal_mask(N, N))[0]


def with_a_cache(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    first, cache = MODULE.step(q[0, :, :5], None)
    return first + MODULE.step(k[0, :, :1], cache)[0]


def causal_step(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return ATTENTION.scaled_dot_product_attention(q, k, v, ATTENTION.causal_mask(q.shape[-2], k.shape[-2]))[0]


def mask_alone(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return ATTENTION.causal_mask(q.shape[-2], k.shape[-2])


def padded(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    mask = ATTENTION.padding_mask(torch.tensor([k.shape[-2] // 2]), k.shape[-2])
    return ATTENTION.scaled_dot_product_attention(q, k, v, mask)[0]


def soft(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return ATTENTION.softmax(q * k, -1)


def with_loops(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return ATTENTION.attention_with_loops(q[0, 0, :6], k[0, 0, :7], v[0, 0, :7])


def chunked(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return EFFICIENT.chunked_attention(q, k, v, 20, True)


def chunked_both_ways(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return EFFICIENT.chunked_attention(q, k, v, 20)


def flash(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return EFFICIENT.flash_attention(q, k, v, 20, True)


def flash_both_ways(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return EFFICIENT.flash_attention(q, k, v, 20)


def flash_of(q: Tensor, k: Tensor, v: Tensor, chunk: int) -> Tensor:
    return EFFICIENT.flash_attention(q, k, v, chunk)


def window(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return EFFICIENT.sliding_window_attention(q, k, v, 9)


MODULE, GROUPED = ATTENTION.MultiHeadAttention(D, 4), ATTENTION.MultiHeadAttention(D, 4, 2, rotary=True)
PLACES = torch.arange(0, N, 3).view(1, 1, -1, 1).expand(1, 1, -1, D)

# What parts 2 and 5 ask for.
TRAINABLE_PARTS = [
    soft, with_loops, causal_step, padded, multi_head, multi_head_grouped_and_rotated, with_a_cache, chunked,
    chunked_both_ways, flash, flash_both_ways, window,
]  # fmt: skip
PARTS_FUNCTIONS = [*TRAINABLE_PARTS, mask_alone]
# Programs without scratch inside a kernel.
TRAINABLE = [naive, views, looped, masked, half, summed_up, gathered, layered, picked, written_by_rows, resized, mapped]
PROGRAMS = [
    *TRAINABLE, in_place, out_argument, kept_in_a_global, reference_cycle, data_replaced, clipped, stacked,
]  # fmt: skip
