"""The same numbers in another place in memory: what works by `.view` or by assumed strides fails on these.

A tensor arrives at student code with the strides that it has here.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor


def transposed(x: Tensor) -> Tensor:
    """`x` (..., n, d), stored with its last two axes exchanged."""
    return x.transpose(-2, -1).contiguous().transpose(-2, -1)


def strided(x: Tensor) -> Tensor:
    """`x`, every second number of a tensor twice as wide."""
    return torch.stack((x, x + 1), dim=-1)[..., 0]


def expanded(x: Tensor) -> Tensor:
    """The first entry of `x` along its first axis, as often as there were entries: all of them share their memory."""
    return x[:1].expand(x.shape)


def beside_tokens(x: Tensor) -> Tensor:
    """`x` (..., heads, n, d), stored as (..., n, heads, d): as features are split into heads."""
    return x if x.dim() < 3 else x.transpose(-3, -2).contiguous().transpose(-3, -2)


def in_each_layout(*tensors: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """The tensors in each form of this module (expanded, their values are other ones)."""
    for layout in (transposed, strided, beside_tokens, expanded):
        yield tuple(layout(x) for x in tensors)
