"""Part 5: attention whose memory grows with n, not with n squared.

Nothing in softmax(Q K^T / sqrt(d)) V needs the n x n scores at once. A query's output is a weighted average, and an
average can be kept up to date: keys come chunk by chunk, and what is held is the largest score so far, the sum of the
weights and the weighted sum of the values. The same three numbers, or two of them, are all that a backward pass needs.

Shapes are (..., n, d); causal aligns the last query with the last key; a query that may attend to nothing gets 0. The
chunks are a loop in Python, not a kernel: this part is about memory, not about speed.

Sources: Milakov and Gimelshein, Online normalizer calculation for softmax, 2018 (arXiv:1805.02867); Rabe and Staats,
Self-attention does not need O(n^2) memory, 2021 (arXiv:2112.05682); Dao et al., FlashAttention, 2022
(arXiv:2205.14135); Dao, FlashAttention-2, 2023 (arXiv:2307.08691).
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def chunked_attention(q: Tensor, k: Tensor, v: Tensor, chunk: int, causal: bool = False) -> Tensor:
    """Exact attention that never holds more scores than one chunk of queries has with one chunk of keys.

    Args:
        q: queries (..., n_q, d_k).
        k: keys (..., n_k, d_k).
        v: values (..., n_k, d_v).
        chunk: how many queries, and how many keys, are looked at together; it need not divide n_q or n_k, and may be
            more than either.
        causal: whether a query may only attend to keys that are not in its future (last query with last key).

    Returns:
        (..., n_q, d_v), what scaled_dot_product_attention of part 2 gives, up to rounding. Without gradients, memory
        grows linearly with n.

    Example: q = [[0, 0]], k of two rows, chunk 1: both scores are 0, and with v = [[2.], [4.]] the result is [[3.]].
    """
    raise NotImplementedError


def flash_attention(q: Tensor, k: Tensor, v: Tensor, chunk: int, causal: bool = False) -> Tensor:
    """The same attention, with memory that grows linearly with n in training, too.

    A backward pass of plain operations needs every weight again, so autograd keeps all n x n of them, in chunks or
    not. This one keeps a number a query and computes the weights a second time.

    Args:
        q: queries (..., n_q, d_k).
        k: keys (..., n_k, d_k).
        v: values (..., n_k, d_v).
        chunk: as in `chunked_attention`.
        causal: as in `chunked_attention`.

    Returns:
        (..., n_q, d_v). Gradients flow to q, k and v; no second derivatives are asked for.

    Source: Dao et al., 2022, algorithms 1 and 4; the order of loops is that of FlashAttention-2.
    """
    raise NotImplementedError


def sliding_window_attention(q: Tensor, k: Tensor, v: Tensor, window: int) -> Tensor:
    """Attention to the latest keys only: query i attends to the keys j with 0 <= i - j < window.

    Args:
        q: queries (..., n, d_k).
        k: keys (..., n, d_k), as many as queries.
        v: values (..., n, d_v).
        window: how many keys a query may attend to, itself included; at least 1, and it may be more than n.

    Returns:
        (..., n, d_v). Operations and memory grow linearly with n, for a fixed window.

    Example: window 1: each query sees its own key alone, and the result is v.
    """
    raise NotImplementedError
