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
    # BEGIN SOLUTION
    # exp(88.8) is more than float32 can hold. A factor common to numerator and denominator cancels, so take the
    # largest score off.
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
        (n_q, d_v): for each query the average of the values, weighted by softmax over the keys of <query, key> /
        sqrt(d_k).

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
        mask: boolean, broadcastable to (..., n_q, n_k); True means that the query may attend to the key. None: to
            every key.

    Returns:
        out: (..., n_q, d_v).
        weights: (..., n_q, n_k). Each row sums to 1, except that a query which may attend to nothing has weights 0
            and output 0.

    Example: q = [[0, 0]], so both scores are 0 and both keys weigh 1/2; with v = [[2.], [4.]], out is [[3.]]; with
    mask = [[True, False]] it is [[2.]].
    """
    # BEGIN SOLUTION
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = softmax(scores, dim=-1)
    else:
        # The lowest finite number, and not -inf: a row that is masked throughout would be -inf - (-inf), which is
        # NaN. It is uniform instead, until the second fill takes out what a masked key got.
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
        Boolean (n_q, n_k), True where query i may attend to key j: j - (n_k - n_q) <= i. With n_q > n_k the first n_q
        - n_k queries attend to nothing.

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
        Boolean (B, 1, n), True where the key is a token; on the device of `lengths`. The middle axis broadcasts over
        queries.

    Example: padding_mask(tensor([1, 3]), 3) is [[[True, False, False]], [[True, True, True]]].
    """
    # BEGIN SOLUTION
    places = torch.arange(n, device=lengths.device)
    return places < lengths[:, None, None]
    # END SOLUTION


# BEGIN SOLUTION
def split_heads(x: Tensor, heads: int) -> Tensor:
    """(..., n, heads * d) -> (..., heads, n, d): head h owns the features h * d up to (h + 1) * d."""
    return x.unflatten(-1, (heads, x.shape[-1] // heads)).transpose(-3, -2)


def merge_heads(x: Tensor) -> Tensor:
    """(..., heads, n, d) -> (..., n, heads * d): what `split_heads` took apart."""
    return x.transpose(-3, -2).flatten(-2)


def rotate_pairs(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Rotary position embedding: turn the pair (2i, 2i + 1) of each token by position * base^(-2i / d).

    Args:
        x: (..., n, d), d even.
        positions: integers, broadcastable to x.shape[:-1].
        base: of the frequencies.

    Returns:
        (..., n, d) in the dtype of `x`; angles are float64, so that no position is too far away.

    Raises:
        ValueError: when d is odd.

    Source: Su et al., RoFormer, 2021, section 3.2.2 (arXiv:2104.09864).
    """
    d = x.shape[-1]
    if d % 2:
        raise ValueError(f"rotary positions turn pairs of features, and {d} features are no pairs")
    exponents = torch.arange(0, d, 2, dtype=torch.float64, device=x.device) / d
    angles = positions.to(torch.float64).unsqueeze(-1) * base**-exponents
    cos, sin = angles.cos(), angles.sin()
    even, odd = x[..., 0::2].double(), x[..., 1::2].double()
    turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
    return turned.flatten(-2).to(x.dtype)


# END SOLUTION


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
        # BEGIN SOLUTION
        if self.rotary and context is not None:
            raise ValueError("rotary attention relates positions of one sequence; a context has none in it")
        source = x if context is None else context
        q = split_heads(self.q_proj(x), self.heads)
        k = split_heads(self.k_proj(source), self.kv_heads)
        v = split_heads(self.v_proj(source), self.kv_heads)
        if self.rotary:
            positions = torch.arange(x.shape[-2], device=x.device) if positions is None else positions
            q, k = rotate_pairs(q, positions), rotate_pairs(k, positions)
        if mask is not None and mask.dim() > 2:
            mask = mask.unsqueeze(-3)  # the same for every head
        group = self.heads // self.kv_heads
        k, v = k.repeat_interleave(group, dim=-3), v.repeat_interleave(group, dim=-3)
        out, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.out_proj(merge_heads(out)), weights
        # END SOLUTION

    def step(self, x: Tensor, cache: Cache | None) -> tuple[Tensor, Cache]:
        """Bonus: the next token of causal self-attention, without computing the earlier ones again.

        Args:
            x: (..., 1, d_model), the next token.
            cache: what the step before returned; None at the first token.

        Returns:
            out: (..., 1, d_model), the last row of what `forward` gives for all tokens so far under a causal mask.
            cache: for the next step. (Tensors in tuples or dicts, as you like.)
        """
        # BEGIN SOLUTION
        q = split_heads(self.q_proj(x), self.heads)
        k = split_heads(self.k_proj(x), self.kv_heads)
        v = split_heads(self.v_proj(x), self.kv_heads)
        if self.rotary:
            earlier = 0 if cache is None else cache[0].shape[-2]
            positions = torch.arange(earlier, earlier + x.shape[-2], device=x.device)
            q, k = rotate_pairs(q, positions), rotate_pairs(k, positions)
        if cache is not None:
            k, v = torch.cat((cache[0], k), dim=-2), torch.cat((cache[1], v), dim=-2)
        group = self.heads // self.kv_heads
        mask = causal_mask(q.shape[-2], k.shape[-2]).to(x.device)
        out, _ = scaled_dot_product_attention(
            q, k.repeat_interleave(group, dim=-3), v.repeat_interleave(group, dim=-3), mask
        )
        return self.out_proj(merge_heads(out)), (k, v)
        # END SOLUTION


"""Heads are split, repeated and merged with einops."""

from einops import rearrange, repeat


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, x, context=None, mask=None, positions=None):
        if self.rotary:
            return super().forward(x, context, mask, positions)
        source = x if context is None else context
        q = rearrange(self.q_proj(x), "... n (h d) -> ... h n d", h=self.heads)
        k = rearrange(self.k_proj(source), "... n (h d) -> ... h n d", h=self.kv_heads)
        v = rearrange(self.v_proj(source), "... n (h d) -> ... h n d", h=self.kv_heads)
        group = self.heads // self.kv_heads
        k, v = (repeat(y, "... h n d -> ... (h g) n d", g=group) for y in (k, v))
        if mask is not None and mask.dim() >= 3:
            mask = rearrange(mask, "... q k -> ... 1 q k")
        out, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.out_proj(rearrange(out, "... h n d -> ... n (h d)")), weights
