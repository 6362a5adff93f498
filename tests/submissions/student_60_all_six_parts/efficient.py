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


# BEGIN SOLUTION
def chunks_of(n: int, chunk: int) -> list[tuple[int, int]]:
    """The (start, stop) of each chunk of 0 .. n - 1; the last may be shorter."""
    return [(start, min(start + chunk, n)) for start in range(0, n, chunk)]


def last_key(query: int, n_q: int, n_k: int) -> int:
    """How many keys the query at place `query` may attend to under a causal mask: the last query sees all n_k."""
    return max(0, min(n_k, query + 1 + n_k - n_q))


def scores_of(q: Tensor, k: Tensor, first_query: int, first_key: int, offset: int | None) -> Tensor:
    """Scaled scores of a chunk of queries and a chunk of keys; -inf where the key is in the query's future.

    Args:
        q: (..., c_q, d), the queries from `first_query` on.
        k: (..., c_k, d), the keys from `first_key` on.
        offset: n_k - n_q, which aligns the last query with the last key; None: every key may be attended to.

    Returns:
        (..., c_q, c_k).
    """
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if offset is None:
        return scores
    queries = torch.arange(first_query, first_query + q.shape[-2], device=q.device)
    keys = torch.arange(first_key, first_key + k.shape[-2], device=q.device)
    return scores.masked_fill(keys > queries.unsqueeze(-1) + offset, -math.inf)


def attend_in_chunks(
    q: Tensor, k: Tensor, v: Tensor, chunk: int, first_query: int, offset: int | None, n_seen: int
) -> tuple[Tensor, Tensor]:
    """Attention of one chunk of queries to the first `n_seen` keys, which come chunk by chunk.

    Returns:
        out: (..., c_q, d_v).
        log_total: (..., c_q, 1), the logarithm of the sum of exp(score); +inf for a query that attends to nothing, so
            that exp(score - log_total), its weights, are 0.
    """
    largest = q.new_full((*q.shape[:-1], 1), -math.inf)
    total = torch.zeros_like(largest)
    out = v.new_zeros(*q.shape[:-1], v.shape[-1])
    for start, stop in chunks_of(n_seen, chunk):
        scores = scores_of(q, k[..., start:stop, :], first_query, start, offset)
        # The result does not depend on which number is taken off, so no gradient flows through it.
        new_largest = torch.maximum(largest, scores.detach().amax(dim=-1, keepdim=True))
        shift = new_largest.masked_fill(new_largest == -math.inf, 0.0)  # -inf - (-inf) would be NaN
        weights = (scores - shift).exp()
        rescale = (largest - shift).exp()  # what was summed so far was relative to the old maximum
        total = total * rescale + weights.sum(dim=-1, keepdim=True)
        out = out * rescale + weights @ v[..., start:stop, :]
        largest = new_largest
    nothing = total == 0
    out = out / total.masked_fill(nothing, 1.0)
    return out, (largest + total.log()).masked_fill(nothing, math.inf)


# END SOLUTION
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
    # BEGIN SOLUTION
    n_q, n_k = q.shape[-2], k.shape[-2]
    out = [v.new_zeros(*q.shape[:-2], 0, v.shape[-1])]  # so that no query at all is no special case
    for start, stop in chunks_of(n_q, chunk):
        n_seen = last_key(stop - 1, n_q, n_k) if causal else n_k
        offset = n_k - n_q if causal else None
        out.append(attend_in_chunks(q[..., start:stop, :], k, v, chunk, start, offset, n_seen)[0])
    return torch.cat(out, dim=-2)
    # END SOLUTION


# BEGIN SOLUTION
class FlashAttention(torch.autograd.Function):
    """Attention whose backward pass computes the weights again, chunk by chunk, from q, k and log_total.

    With P the weights and O = P V, given dO:

        dV = P^T dO        dP = dO V^T        D = rowsum(P * dP) = rowsum(dO * O)
        dS = P * (dP - D)  dQ = dS K / sqrt(d)   dK = dS^T Q / sqrt(d)

    Every line is a sum over pairs of a query and a key, so it can be added up over chunks; only D needs a whole row,
    and D comes from what is there already.
    """

    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, chunk: int, causal: bool) -> Tensor:
        n_q, n_k = q.shape[-2], k.shape[-2]
        out = v.new_empty(*q.shape[:-1], v.shape[-1])
        log_total = q.new_empty(*q.shape[:-1], 1)
        offset = n_k - n_q if causal else None
        for start, stop in chunks_of(n_q, chunk):
            n_seen = last_key(stop - 1, n_q, n_k) if causal else n_k
            out[..., start:stop, :], log_total[..., start:stop, :] = attend_in_chunks(
                q[..., start:stop, :], k, v, chunk, start, offset, n_seen
            )
        ctx.save_for_backward(q, k, v, out, log_total)
        ctx.chunk, ctx.causal = chunk, causal
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_out: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, out, log_total = ctx.saved_tensors
        n_q, n_k = q.shape[-2], k.shape[-2]
        offset = n_k - n_q if ctx.causal else None
        scale = 1.0 / math.sqrt(q.shape[-1])
        row_sum = (grad_out * out).sum(dim=-1, keepdim=True)
        grad_q, grad_k, grad_v = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
        for start, stop in chunks_of(n_q, ctx.chunk):
            queries = (..., slice(start, stop), slice(None))
            n_seen = last_key(stop - 1, n_q, n_k) if ctx.causal else n_k
            for first, last in chunks_of(n_seen, ctx.chunk):
                keys = (..., slice(first, last), slice(None))
                weights = (scores_of(q[queries], k[keys], start, first, offset) - log_total[queries]).exp()
                grad_v[keys] += weights.transpose(-2, -1) @ grad_out[queries]
                grad_weights = grad_out[queries] @ v[keys].transpose(-2, -1)
                grad_scores = weights * (grad_weights - row_sum[queries]) * scale
                grad_q[queries] += grad_scores @ k[keys]
                grad_k[keys] += grad_scores.transpose(-2, -1) @ q[queries]
        return grad_q, grad_k, grad_v, None, None


# END SOLUTION
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
    # BEGIN SOLUTION
    return FlashAttention.apply(q, k, v, chunk, causal)
    # END SOLUTION


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
    # BEGIN SOLUTION
    n = q.shape[-2]
    out = [v.new_zeros(*q.shape[:-2], 0, v.shape[-1])]
    for start, stop in chunks_of(n, max(window, 64)):  # not less than 64, or a small window is a long loop
        first = max(0, start - window + 1)
        keys = slice(first, stop)
        scores = q[..., start:stop, :] @ k[..., keys, :].transpose(-2, -1) / math.sqrt(q.shape[-1])
        distance = torch.arange(start, stop).unsqueeze(-1) - torch.arange(first, stop)
        outside = ((distance < 0) | (distance >= window)).to(q.device)
        scores = scores.masked_fill(outside, -math.inf)  # each query sees itself, so no row is empty
        weights = (scores - scores.amax(dim=-1, keepdim=True)).exp()
        out.append(weights @ v[..., keys, :] / weights.sum(dim=-1, keepdim=True))
    return torch.cat(out, dim=-2)
    # END SOLUTION


"""The outer loop runs over keys, the inner one over queries, and the sums of all queries are held."""

import math

import torch


def chunked_attention(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    offset = n_k - n_q if causal else None
    queries = chunks_of(n_q, chunk)
    largest = [q.new_full((*q.shape[:-2], j - i, 1), -1e30) for i, j in queries]
    total = [torch.zeros_like(each) for each in largest]
    mixed = [v.new_zeros(*q.shape[:-2], j - i, v.shape[-1]) for i, j in queries]
    for first, last in chunks_of(n_k, chunk):
        for b, (i, j) in enumerate(queries):
            scores = scores_of(q[..., i:j, :], k[..., first:last, :], i, first, offset)
            new = torch.maximum(largest[b], scores.detach().amax(dim=-1, keepdim=True))
            weights, rescale = (scores - new).exp(), (largest[b] - new).exp()
            total[b] = total[b] * rescale + weights.sum(dim=-1, keepdim=True)
            mixed[b] = mixed[b] * rescale + weights @ v[..., first:last, :]
            largest[b] = new
    rows = [m / t.masked_fill(t == 0, 1.0) for m, t in zip(mixed, total)]
    return torch.cat([v.new_zeros(*q.shape[:-2], 0, v.shape[-1]), *rows], dim=-2)
