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
    raise NotImplementedError


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
        raise NotImplementedError


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
    raise NotImplementedError


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
    raise NotImplementedError
