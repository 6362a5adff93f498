"""Part 3: positions, three ways of telling attention where a token stands.

Attention sees a set: permute the tokens, and the outputs come permuted. A code of the position puts order back in,
either added to the token (sinusoidal, learned) or as a rotation of queries and keys (RoPE), or as a bias of the scores
(ALiBi). Sines, rotations and biases are formulas, which hold for positions never seen; a learned table ends where its
rows end. Masks and attention itself are part 2; which code a model extrapolates best with is part 6's question.

Sources: Vaswani et al., Attention Is All You Need, 2017, section 3.5 (arXiv:1706.03762); Su et al., RoFormer, 2021,
section 3.2 (arXiv:2104.09864); Press et al., Train Short, Test Long, 2022, section 3 (arXiv:2108.12409).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


# BEGIN SOLUTION
def angles_of(positions: Tensor, d: int, base: float) -> Tensor:
    """How far each of d / 2 pairs of features has turned at each position: position * base^(-2i / d).

    Args:
        positions: integers, any shape.
        d: number of features, even.
        base: the slowest pair turns almost `base` times as slowly as the first, which turns by 1 a position.

    Returns:
        Angles in radians, (*positions.shape, d / 2). They are float64: in float32 an angle of 100,000 is known to
        0.004 only.

    Raises:
        ValueError: when d is odd.
    """
    if d % 2:
        raise ValueError(f"a position turns pairs of features, and {d} features are no pairs")
    exponents = torch.arange(0, d, 2, dtype=torch.float64, device=positions.device) / d
    return positions.unsqueeze(-1) * base**-exponents


# END SOLUTION


def sinusoidal(positions: Tensor, d: int, base: float = 10000.0) -> Tensor:
    """The code of each position: sines and cosines of d / 2 frequencies, from fast to slow.

    Feature 2i is sin(p * base^(-2i / d)), feature 2i + 1 is cos of the same angle.

    Args:
        positions: integers (int32 or int64), any shape with at least one axis; any sign, size and order.
        d: number of features, even.
        base: of the frequencies.

    Returns:
        (*positions.shape, d), float32 (float64 is fine too).

    Raises:
        ValueError: when d is odd.

    Example: sinusoidal(tensor([0, 1]), 2) is [[0, 1], [sin 1, cos 1]] = [[0, 1], [0.8415, 0.5403]].

    Source: Vaswani et al., 2017, section 3.5.
    """
    # BEGIN SOLUTION
    angles = angles_of(positions, d, base)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2).to(torch.get_default_dtype())
    # END SOLUTION


class LearnedPositions(nn.Module):
    """A table with one row for each position, learned like any other parameter.

    Args:
        max_len: number of rows; positions are 0 .. max_len - 1.
        d: number of features.

    Source: Gehring et al., Convolutional Sequence to Sequence Learning, 2017, section 3.1 (arXiv:1705.03122).
    """

    def __init__(self, max_len: int, d: int) -> None:
        super().__init__()
        # The checks load the table by this name.
        self.table = nn.Embedding(max_len, d)

    def forward(self, positions: Tensor) -> Tensor:
        """Look the rows up.

        Args:
            positions: integers (int32 or int64), any shape with at least one axis, in 0 .. max_len - 1.

        Returns:
            (*positions.shape, d).

        Raises:
            ValueError: for a position that has no row, negative ones included.

        Example: with table [[1., 2.], [3., 4.]], positions [1, 1, 0] give [[3., 4.], [3., 4.], [1., 2.]].
        """
        # BEGIN SOLUTION
        rows = self.table.num_embeddings
        unknown = positions[(positions < 0) | (positions >= rows)]
        if unknown.numel():
            raise ValueError(f"position {int(unknown[0])} was never learned: the table has rows 0 .. {rows - 1}")
        return self.table(positions)
        # END SOLUTION


def rope(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Rotary position embedding: turn each pair of features by an angle that grows with the position.

    The pair (x0, x1) of features 2i and 2i + 1 at position p becomes (x0 cos a - x1 sin a, x0 sin a + x1 cos a), with
    a = p * base^(-2i / d). Turned so, the inner product of a query at m and a key at n depends on m - n only.

    Args:
        x: queries or keys (..., n, d), d even; float32, float64 or bfloat16.
        positions: integers (int32 or int64) that broadcast to x.shape[:-1]: (n,), or (B, 1, n) for x (B, heads, n,
            d). Any sign, size and order.
        base: of the frequencies.

    Returns:
        (..., n, d) in the dtype of `x`. Angles are float32 at least, whatever that dtype is.

    Raises:
        ValueError: when d is odd.

    Example: rope(tensor([[1., 0.], [1., 0.]]), tensor([0, 1])) is [[1, 0], [cos 1, sin 1]].

    Source: Su et al., 2021, section 3.2.2, equation 34.
    """
    # BEGIN SOLUTION
    angles = angles_of(positions, x.shape[-1], base)
    cos, sin = angles.cos(), angles.sin()
    even, odd = x[..., 0::2].double(), x[..., 1::2].double()
    turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1)
    return turned.flatten(-2).to(x.dtype)
    # END SOLUTION


def alibi_bias(heads: int, n_q: int, n_k: int) -> Tensor:
    """Bonus: what attention with linear biases adds to its scores: less, the further the key is away.

    Args:
        heads: number of heads; head h (from 1) has slope 2^(-8h / heads).
        n_q: number of queries; the last one stands at the last key, as in `causal_mask`.
        n_k: number of keys.

    Returns:
        (heads, n_q, n_k), float32: -slope * |distance|, the distance counted in positions.

    Example: alibi_bias(1, 1, 3) is [[[-2/256, -1/256, 0]]].

    Source: Press et al., 2022, section 3.
    """
    # BEGIN SOLUTION
    slopes = 2.0 ** (-8.0 * torch.arange(1, heads + 1) / heads)
    queries, keys = torch.arange(n_k - n_q, n_k), torch.arange(n_k)
    distances = (queries[:, None] - keys).abs()
    return -slopes[:, None, None] * distances
    # END SOLUTION


"""A pair is a complex number, a code a point on the circle, a rotation a product; all in float32."""

import math

import torch


def _points(positions, d, base):
    if d % 2 != 0:
        raise ValueError(f"d = {d} is odd")
    frequencies = torch.exp(torch.arange(0, d, 2, device=positions.device).float() * (-math.log(base) / d))
    angles = positions[..., None].float() * frequencies
    return torch.polar(torch.ones_like(angles), angles)


def sinusoidal(positions, d, base=10000.0):
    points = torch.view_as_real(_points(positions, d, base))
    return points.flip(-1).reshape(*positions.shape, d)


def rope(x, positions, base=10000.0):
    points = _points(positions, x.shape[-1], base)
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], x.shape[-1] // 2, 2).contiguous())
    return torch.view_as_real(pairs * points).reshape(x.shape).to(x.dtype)
