"""Part 2: attention, from loops to many heads.

Attention lets each token look at every other one and average what it finds, weighted by relevance:

    Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V

Shapes are (..., n, d): any number of leading axes, then tokens, then features. The conventions (what a mask means,
what a query that may attend to nothing gets) are in the handout. Positions come with part 3; memory that grows with n
squared is part 5's subject, not this one's.

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
    raise NotImplementedError


def attention_with_loops(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention for one sequence, one query and one key at a time: slow, and nothing is hidden in a matrix product.

    Args:
        q: queries (n_q, d_k).
        k: keys (n_k, d_k).
        v: values (n_k, d_v).

    Returns:
        (n_q, d_v): for each query the average of the values, weighted by softmax over the keys of <query, key> /
        sqrt(d_k).

    Example: one key only, k (1, d_k) and v (1, d_v): its weight is 1, so every row of the result is v[0].
    """
    raise NotImplementedError


def scaled_dot_product_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Attention as two matrix products.

    Args:
        q: queries (..., n_q, d_k).
        k: keys (..., n_k, d_k).
        v: values (..., n_k, d_v).
        mask: boolean, broadcastable to (..., n_q, n_k); True means that the query may attend to the key. None: to
            every key.

    Returns:
        out: (..., n_q, d_v).
        weights: (..., n_q, n_k). Each row sums to 1, except that a query which may attend to nothing has weights 0
            and output 0.

    Example: q = [[0, 0]], so both scores are 0 and both keys weigh 1/2; with v = [[2.], [4.]], out is [[3.]]; with
    mask = [[True, False]] it is [[2.]].
    """
    raise NotImplementedError


def causal_mask(n_q: int, n_k: int) -> Tensor:
    """Which keys are not in the future: the last query is aligned with the last key.

    Args:
        n_q: number of queries.
        n_k: number of keys.

    Returns:
        Boolean (n_q, n_k), True where query i may attend to key j: j - (n_k - n_q) <= i. With n_q > n_k the first n_q
        - n_k queries attend to nothing.

    Example: causal_mask(2, 3) is [[True, True, False], [True, True, True]].
    """
    raise NotImplementedError


def padding_mask(lengths: Tensor, n: int) -> Tensor:
    """Which keys are tokens, in a batch of sequences padded at the end to a common length.

    Args:
        lengths: (B,) integers in 0 .. n, the number of tokens in each sequence.
        n: the padded length.

    Returns:
        Boolean (B, 1, n), True where the key is a token; on the device of `lengths`. The middle axis broadcasts over
        queries.

    Example: padding_mask(tensor([1, 3]), 3) is [[[True, False, False]], [[True, True, True]]].
    """
    raise NotImplementedError


class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each in a subspace of its own, and a projection that mixes what they found.

    Args:
        d_model: width of the tokens, divisible by `heads`.
        heads: number of query heads; each has width d_model // heads.
        kv_heads: number of key/value heads, a divisor of `heads`; None: as many as `heads`. Fewer is a bonus.
        rotary: turn queries and keys by their positions (bonus).

    Raises:
        ValueError: when `heads` does not divide d_model, or `kv_heads` does not divide `heads`.

    Source: Vaswani et al., 2017, section 3.2.2; grouped heads: Ainslie et al., GQA, 2023 (arXiv:2305.13245).
    """

    def __init__(self, d_model: int, heads: int, kv_heads: int | None = None, rotary: bool = False) -> None:
        super().__init__()
        kv_heads = heads if kv_heads is None else kv_heads
        if d_model % heads:
            raise ValueError(f"{heads} heads do not divide a width of {d_model}")
        if heads % kv_heads:
            raise ValueError(f"{kv_heads} key/value heads do not divide {heads} query heads")
        d_head = d_model // heads
        self.heads = heads
        self.kv_heads = kv_heads
        self.rotary = rotary
        # The checks load parameters by these names. All four have a bias.
        self.q_proj = nn.Linear(d_model, heads * d_head)
        self.k_proj = nn.Linear(d_model, kv_heads * d_head)
        self.v_proj = nn.Linear(d_model, kv_heads * d_head)
        self.out_proj = nn.Linear(heads * d_head, d_model)

    def forward(
        self, x: Tensor, context: Tensor | None = None, mask: Tensor | None = None, positions: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Attend from the tokens of `x` to those of `context`.

        Args:
            x: (..., n_q, d_model), where queries come from.
            context: (..., n_k, d_model), where keys and values come from; None: `x` itself.
            mask: boolean, broadcastable to (..., n_q, n_k), the same for all heads; True means may attend.
            positions: integers, (n,) or (B, 1, n), for rotary attention only; None: 0 .. n - 1.

        Returns:
            out: (..., n_q, d_model). A query that may attend to nothing hands zeros to `out_proj`, whose bias stays.
            weights: (..., heads, n_q, n_k).

        Raises:
            ValueError: for rotary attention with a context, or with heads of odd width (bonus).

        Example: one head, all projections the identity and biases 0: what scaled_dot_product_attention(x, x, x)
            gives.
        """
        raise NotImplementedError

    def step(self, x: Tensor, cache: Cache | None) -> tuple[Tensor, Cache]:
        """Bonus: the next token of causal self-attention, without computing the earlier ones again.

        Args:
            x: (..., 1, d_model), the next token.
            cache: what the step before returned; None at the first token.

        Returns:
            out: (..., 1, d_model), the last row of what `forward` gives for all tokens so far under a causal mask.
            cache: for the next step. (Tensors in tuples or dicts, as you like.)
        """
        raise NotImplementedError
