"""Positions as algebra: what a code of the position does at every position, the never seen ones included.

A shift turns all sinusoidal codes by one rotation R(k); RoPE's inner products know differences of positions only; an
attention sees order if, and only if, there is a code. Each of these holds for any pairing of features, direction and
frequencies, so a wrong convention costs its own check and not those. They are anchored by numbers that hold for any
pairing and direction and, with two features, whose one frequency is 1 in every formula, for any frequencies, too. No
accuracy of a trained model is judged here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor

from autograder.testing.cases import Cases
from autograder.testing.mismatch import Mismatch, compared
from autograder.testing.numbers import assert_close, assert_finite, assert_shape, assert_tensor, rounding

Code = Callable[..., Any]
EPS = rounding(torch.float32)


# ------------------------------------------------------------------ bounds


def sinusoidal_bound(positions: Tensor) -> float:
    """What a sinusoidal code may err: 2 x eps32 x (1 + |p|). An angle held in float32 is known to eps32 x |p| / 2."""
    return 2 * EPS * (1 + _farthest(positions))


def rope_bound(x: Tensor, positions: Tensor) -> float:
    """What RoPE of float32 or float64 input may err: 2 x eps32 x (1 + |p|) x the largest norm of a pair.

    Args:
        x: (..., n, d), d even.
        positions: integers.
    """
    pairs = x.reshape(*x.shape[:-1], x.shape[-1] // 2, 2)
    return sinusoidal_bound(positions) * float(_lengths(pairs).max())


def _lengths(x: Tensor) -> Tensor:
    return x.double().square().sum(dim=-1).sqrt()


def _farthest(positions: Tensor) -> int:
    return int(positions.abs().max()) if positions.numel() else 0


# ------------------------------------------------------------------ codes that are added


def codes_of(got: Any, shape: tuple[int, ...], what: str = "codes") -> Tensor:
    """What a code gave, in float64, once it is known to be finite and of this shape."""
    compared(got, None, what)
    values = assert_finite(assert_tensor(got, what), what)
    assert_shape(values, shape, what)
    return values.double()


def assert_waves(sinusoidal: Code, *given: Tensor, d: int = 0) -> None:
    """<code(p), code(q)> is the sum of cos((p - q) w) over the frequencies w, whatever comes first, sine or cosine.

    With four features these are 1 and 1/100. Who has other frequencies, or fails there, may show it with two, of which
    there is one frequency in every formula: so a wrong frequency costs its own check, and so does one odd width.

    Args:
        sinusoidal: (positions, d) -> (*positions.shape, d).
        *given: positions, integers of any shape, one call for each.
        d: this width alone, 2 or 4; 0: either will do.

    Raises:
        Mismatch: with the inner products of the position that is worst off.
    """
    if not d:
        _either(lambda d: assert_waves(sinusoidal, *given, d=d))
        return
    for positions in given:
        codes = codes_of(sinusoidal(positions, d), (*positions.shape, d)).reshape(-1, d)
        # A pair has length 1, and each of its features errs by the bound at most: 2 sqrt(2) of it in an inner product.
        within = 2 * d * sinusoidal_bound(positions)
        what = f"inner products of the codes of {_listed(positions)} (d = {d})"
        assert_close(codes @ codes.T, _cosines(positions, d), what, within=within)


def _either(assertion: Callable[[int], None]) -> None:
    """An anchor holds with four features, or with two."""
    try:
        assertion(4)
    except Exception:
        assertion(2)


def _cosines(positions: Tensor, d: int) -> Tensor:
    """cos(p - q) for each two positions, with d = 4 cos((p - q) / 100) added to it."""
    places = positions.reshape(-1).double()
    apart = places[:, None] - places
    return apart.cos() if d == 2 else apart.cos() + (apart / 100).cos()


def _listed(positions: Tensor) -> str:
    return ", ".join(str(int(p)) for p in positions.reshape(-1))


def nearest_rotation(before: Tensor, after: Tensor) -> Tensor:
    """The orthogonal R (d, d) that takes the rows of `before` (m, d) nearest to those of `after`, in least squares.

    Source: Schoenemann, A generalized solution of the orthogonal Procrustes problem, 1966.
    """
    u, _, vh = cast("tuple[Tensor, Tensor, Tensor]", torch.linalg.svd(after.T @ before))
    return u @ vh


def assert_shift_is_a_rotation(before: Any, after: Any, positions: Tensor, shift: int, d: int) -> None:
    """One rotation R(k) takes the code of p to that of p + k, for every p. (It is found, not given: any frequencies.)

    Args:
        before: codes (m, d) of `positions`, m well above d.
        after: codes (m, d) of `positions` + `shift`.
        positions: (m,) integers, pairwise different, within a few thousand.
        shift: k.
        d: number of features.

    Raises:
        Mismatch: when sines and cosines of a pair do not square to 1, when two positions share a code, or when no
            rotation fits.
    """
    m = len(positions)
    codes, shifted = codes_of(before, (m, d)), codes_of(after, (m, d), f"codes of positions + {shift}")
    within = sinusoidal_bound(positions.abs() + abs(shift))
    for each, name in ((codes, "codes"), (shifted, f"codes of positions + {shift}")):
        squares = torch.full((m,), d / 2, dtype=torch.float64)
        assert_close(each.square().sum(-1), squares, f"sum of squares of the {name}", within=2 * d * within)
    apart = _lengths(codes[:, None] - codes) + torch.eye(m)
    if float(apart.min()) <= 4 * within:
        raise Mismatch("codes", "another code for each position", "two positions with the same code")
    rotation = nearest_rotation(codes, shifted)
    # The true R errs by the bound in each number on both sides, and R is at least as good in the sum of squares.
    what = f"codes of positions + {shift}, which are R({shift}) times the codes of the positions"
    assert_close(shifted, codes @ rotation.T, what, within=2 * math.sqrt(m * d) * within)


# ------------------------------------------------------------------ rotations


def assert_turns(rope: Code, cases: Cases, *given: Tensor, d: int = 0) -> None:
    """RoPE turns a token by its position: <rope(x, p), rope(x, q)> is the sum over pairs of |pair|^2 cos((p - q) w).

    All features are of one size, so that it does not matter which of them are a pair. Two widths as in `assert_waves`.

    Args:
        rope: (x, positions) -> the shape of x.
        cases: draws the token, which is put at every position.
        *given: positions (n,), one call for each. One position alone says only that lengths are kept.
        d: this width alone, 2 or 4; 0: either will do.

    Raises:
        Mismatch: with the inner products of the position that is worst off.
    """
    if not d:
        _either(lambda d: assert_turns(rope, cases, *given, d=d))
        return
    for positions in given:
        size = float(cases.uniform(1, low=0.5, high=2.0))
        x = torch.where(cases.tensor(d) < 0, -size, size).repeat(len(positions), 1)  # no sign is 0, as sign() may be
        turned = codes_of(rope(x, positions), tuple(x.shape), "rope(x, positions)")
        # As with waves: 2 sqrt(2) times the bound times the squared length of a pair.
        within = 4 * d * sinusoidal_bound(positions) * size**2
        what = f"inner products of a token turned by {_listed(positions)} (d = {d})"
        assert_close(turned @ turned.T, 2 * size**2 * _cosines(positions, d), what, within=within)


def assert_lengths_kept(x: Tensor, turned: Any, positions: Tensor) -> None:
    """Each token is as long as it was.

    Args:
        x: (..., n, d).
        turned: rope(x, positions).
        positions: integers.
    """
    lengths = _lengths(x)
    after = _lengths(codes_of(turned, tuple(x.shape), "rope(x, positions)"))
    within = sinusoidal_bound(positions) * math.sqrt(x.shape[-1]) * float(lengths.max())
    assert_close(after, lengths, "lengths of the tokens of rope(x, positions)", within=within)


def assert_relative(rope: Code, q: Tensor, k: Tensor, positions: Tensor) -> None:
    """<rope(q, m), rope(k, n)> is a function of m - n only, and <q, k> where m = n.

    Args:
        rope: (x, positions) -> the shape of x.
        q: one query (d,).
        k: one key (d,); both are put at every position.
        positions: (n,) integers with some differences more than once.

    Raises:
        Mismatch: with inner products at equal differences that differ.
    """
    n, d = len(positions), len(q)
    queries = codes_of(rope(q.repeat(n, 1), positions), (n, d), "rope(q, positions)")
    keys = codes_of(rope(k.repeat(n, 1), positions), (n, d), "rope(k, positions)")
    scores = queries @ keys.T
    differences = positions[:, None] - positions
    _, index = cast("tuple[Tensor, Tensor]", torch.unique(differences, return_inverse=True))
    sums = torch.zeros(int(index.max()) + 1, dtype=torch.float64).index_add(0, index.flatten(), scores.flatten())
    expected = (sums / torch.bincount(index.flatten()))[index]
    expected[differences == 0] = float(q.double() @ k.double())
    # Either vector errs by the bound times sqrt(d) and its length; so do the scores that a mean is taken of.
    size = float(_lengths(q) * _lengths(k))
    within = 4 * math.sqrt(d) * sinusoidal_bound(positions) * size
    what = f"<rope(q, m), rope(k, n)>, which depends on m - n only, for m and n in {positions.tolist()}"
    assert_close(scores, expected, what, within=within)


# ------------------------------------------------------------------ what attention makes of a code


def plain_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention of one sequence in float64, the grader's own: q (n, d), k (n, d), v (n, d_v) -> (n, d_v)."""
    scores = q.double() @ k.double().T / math.sqrt(q.shape[-1])
    return scores.softmax(dim=-1) @ v.double()


def assert_order_matters(before: Tensor, after: Tensor, order: Tensor) -> None:
    """Attention over the same tokens in another order gives more than the same outputs in that order.

    Args:
        before: outputs (n, d) for the tokens as they were.
        after: outputs (n, d) for the tokens in `order`, at positions 0 .. n - 1 again.
        order: (n,) indices.

    Raises:
        Mismatch: when the outputs are only permuted, to a thousandth of the largest.
    """
    difference = (after - before[order]).abs().max()
    if not float(difference) > 1e-3 * float(before.abs().max()):
        raise Mismatch(
            "attention over tokens in another order",
            "outputs that tell one order from the other",
            "the same outputs, permuted: so it is without a code",
            "the code does not tell positions apart, or does not reach queries and keys",
        )
