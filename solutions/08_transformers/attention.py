"""Part 2: attention, from loops to many heads.

Attention lets each token look at every other one and average what it finds, weighted by relevance:

    Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V

Shapes are (..., n, d): any number of leading axes, then tokens, then features. The conventions (what a mask means, what a query that may attend to nothing
gets) are in the handout. Positions come with part 3; memory that grows with n squared is part 5's subject, not this one's.

Source: Vaswani et al., Attention Is All You Need, 2017, section 3.2 (arXiv:1706.03762).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

Cache = tuple[Tensor, Tensor]


def softmax(x: Tensor, dim: int) -> Tensor:
    """Turn scores into probabilities along one axis: exp(x_i) / sum_j exp(x_j).

    Args:
        x: scores, any shape, any floating-point dtype. Some of them may be -inf (probability 0), but not a whole row.
        dim: the axis along which the result sums to 1; negative numbers count from the end.

    Returns:
        Probabilities of the shape and dtype of `x`.

    Example: softmax(tensor([0.0, log 3]), dim=0) is [0.25, 0.75], since exp gives 1 and 3.
    """
    # BEGIN SOLUTION
    # exp(88.8) is more than float32 can hold. A factor common to numerator and denominator cancels: take the largest score off.
    shifted = x - x.amax(dim=dim, keepdim=True)
    exponentials = shifted.exp()
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
    # END SOLUTION


def attention_with_loops(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention for one sequence, one query and one key at a time: slow, and nothing is hidden in a matrix product.

    Args:
        q: queries (n_q, d_k).
        k: keys (n_k, d_k).
        v: values (n_k, d_v).

    Returns:
        (n_q, d_v): for each query the average of the values, weighted by softmax over the keys of <query, key> / sqrt(d_k).

    Example: one key only, k (1, d_k) and v (1, d_v): its weight is 1, so every row of the result is v[0].
    """
    # BEGIN SOLUTION
    n_q, d_k = q.shape
    n_k, d_v = v.shape
    out = q.new_zeros(n_q, d_v)
    for i in range(n_q):
        scores = torch.stack([(q[i] * k[j]).sum() / math.sqrt(d_k) for j in range(n_k)])
        weights = softmax(scores, dim=0)
        for j in range(n_k):
            out[i] += weights[j] * v[j]
    return out
    # END SOLUTION


def scaled_dot_product_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Attention as two matrix products.

    Args:
        q: queries (..., n_q, d_k).
        k: keys (..., n_k, d_k).
        v: values (..., n_k, d_v).
        mask: boolean, broadcastable to (..., n_q, n_k); True means that the query may attend to the key. None: to every key.

    Returns:
        out: (..., n_q, d_v).
        weights: (..., n_q, n_k). Each row sums to 1, except that a query which may attend to nothing has weights 0 and output 0.

    Example: q = [[0, 0]], so both scores are 0 and both keys weigh 1/2; with v = [[2.], [4.]], out is [[3.]]; with mask = [[True, False]] it is [[2.]].
    """
    # BEGIN SOLUTION
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = softmax(scores, dim=-1)
    else:
        # The lowest finite number, and not -inf: a row that is masked throughout would be -inf - (-inf), which is NaN. It is
        # uniform instead, until the second fill takes out what a masked key got.
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = softmax(scores, dim=-1).masked_fill(~mask, 0.0)
    return weights @ v, weights
    # END SOLUTION


def causal_mask(n_q: int, n_k: int) -> Tensor:
    """Which keys are not in the future: the last query is aligned with the last key.

    Args:
        n_q: number of queries.
        n_k: number of keys.

    Returns:
        Boolean (n_q, n_k), True where query i may attend to key j: j - (n_k - n_q) <= i. With n_q > n_k the first n_q - n_k queries attend to nothing.

    Example: causal_mask(2, 3) is [[True, True, False], [True, True, True]].
    """
    # BEGIN SOLUTION
    return torch.ones(n_q, n_k, dtype=torch.bool).tril(diagonal=n_k - n_q)
    # END SOLUTION


def padding_mask(lengths: Tensor, n: int) -> Tensor:
    """Which keys are tokens, in a batch of sequences padded at the end to a common length.

    Args:
        lengths: (B,) integers in 0 .. n, the number of tokens in each sequence.
        n: the padded length.

    Returns:
        Boolean (B, 1, n), True where the key is a token; on the device of `lengths`. The middle axis broadcasts over queries.

    Example: padding_mask(tensor([1, 3]), 3) is [[[True, False, False]], [[True, True, True]]].
    """
    # BEGIN SOLUTION
    places = torch.arange(n, device=lengths.device)
    return places < lengths[:, None, None]
    # END SOLUTION
