"""Attention in memory that grows with n: what is measured is compared, whatever slip the function has besides.

A call counts for a memory check when its value is attention at every row that is looked at. A wrong scale, or a causal
mask or window that is off by one, costs its own checks and not these: the oracle, torch's own attention in float64,
gets the same slip.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from autograder.testing.cases import Cases
from autograder.testing.gradients import assert_arrives, assert_gradients
from autograder.testing.numbers import assert_close, assert_finite, assert_shape, assert_tensor, attention_bounds
from autograder.testing.operators import assert_own_work

NAMES = ("q", "k", "v")
_MOST_ROWS = 256
_MOST_OF_ALL_ROWS = 1024


def in_float64(*tensors: Tensor) -> list[Any]:
    """The tensors in float64."""
    return [tensor.double() for tensor in tensors]


def assert_attention(got: Any, expected: Tensor, q: Tensor, k: Tensor, v: Tensor) -> None:
    """`got` is `expected`, as near as attention can be computed in the dtype of `q`."""
    within, _ = attention_bounds(q, k, v)
    assert_close(got, expected, "out", within=within, dtype=q.dtype)


@dataclass(frozen=True)
class Slips:
    """What a function does to all its scores, and whom a query may attend to: keys j with least <= i - j < most.

    Scores are d^(power / 2) times too large: power 1 is a scale that was forgotten, -1 one that was applied twice.
    """

    power: float = 0.0
    least: float = -math.inf
    most: float = math.inf

    def scaled(self, q: Tensor) -> Tensor:
        """The queries whose scores the function has."""
        return q.shape[-1] ** (self.power / 2) * q

    def allowed(self, rows: Tensor, n_q: int, n_k: int) -> Tensor:
        """(rows, n_k) boolean; the last of n_q queries is aligned with the last key."""
        distance = rows.unsqueeze(-1) + n_k - n_q - torch.arange(n_k)
        return (distance >= self.least) & (distance < self.most)

    def attention(self, q: Tensor, k: Tensor, v: Tensor, rows: Tensor) -> Tensor:
        """Attention of the queries at `rows`, in the dtype of `q`."""
        free = self.least == -math.inf and self.most == math.inf
        allowed = None if free else self.allowed(rows, q.shape[-2], k.shape[-2])
        return torch.nn.functional.scaled_dot_product_attention(self.scaled(q)[..., rows, :], k, v, allowed)


def slips_of(
    attention: Callable[[Tensor, Tensor, Tensor], Any], seen: int, *, least: float = -math.inf, n_q: int = 8
) -> Slips:
    """The slips of `attention`, tried on `n_q` queries and eight keys of width 64.

    Args:
        attention: (q, k, v) -> out.
        seen: how many of the eight keys the last query may attend to.
        least: 0 where it must not attend to the keys after it, else minus infinity.
        n_q: how many queries. With fewer than keys, an alignment with the first key is a slip as well.
    """
    right = Slips(0.0, least, math.inf if seen == 8 else seen)
    q, k, v = torch.zeros(n_q, 64), torch.zeros(8, 64), torch.eye(8, 64)
    out = attention(q, k, v)
    if not isinstance(out, Tensor) or out.shape != (n_q, 64):
        return right
    likely = [right]
    if least == 0:
        likely += [replace(right, least=least) for least in (1, -1, -math.inf)]
    if seen < 8:
        likely += [replace(right, most=most) for most in (seen - 1, seen + 1, math.inf)]
    found = next((each for each in likely if (out[:, :8] > 0).equal(each.allowed(torch.arange(n_q), n_q, 8))), right)
    q[:, 0], k[7, 0] = 1.0, 3.0
    seen_keys = found.allowed(torch.tensor([n_q - 1]), n_q, 8)[0]
    others = int(seen_keys[:7].sum())
    weight = float(attention(q, k, v)[-1, 7]) if seen_keys[7] else 0.0  # 1 / (1 + others x exp(-3 x scale))
    for power in (1.0, -1.0):
        if math.isclose(weight, 1 / (1 + others * math.exp(-3 * 8**power / 8)), abs_tol=1e-4):
            return replace(found, power=power)
    return found


def slips_of_chunks(attention: Callable[..., Any], causal: bool = False, n_q: int = 8) -> Slips:
    """The slips of an attention in chunks, which cost checks of their own."""
    return slips_of(lambda q, k, v: attention(q, k, v, 4, causal), 8, least=0 if causal else -math.inf, n_q=n_q)


def with_slips(reference: Callable[..., Any], free: Slips, causal: Slips) -> Callable[..., Any]:
    """The reference; for a function with slips torch's own attention with the same: they cost other checks.

    Args:
        reference: (q, k, v, chunk, causal) -> out.
        free: the slips where every query may attend to every key.
        causal: those under a causal mask.
    """
    if (free, causal) == (Slips(), Slips(least=0)):
        return reference

    def oracle(q: Tensor, k: Tensor, v: Tensor, _chunk: int, seen: bool | None = None, causal: bool = False) -> Tensor:
        return (masked if seen or causal else free).attention(q, k, v, torch.arange(q.shape[-2]))

    masked = causal
    return oracle


def some_rows(cases: Cases, n: int) -> Tensor:
    """All rows of few, and 256 of many, drawn at random."""
    return torch.arange(n) if n <= _MOST_OF_ALL_ROWS else cases.permutation(n)[:_MOST_ROWS]


def assert_rows(got: Any, q: Tensor, k: Tensor, v: Tensor, slips: Slips, rows: Tensor) -> None:
    """`got` is attention at `rows`, and everywhere finite and no larger than averages of values are."""
    within = 2 * float(v.abs().max())
    values = assert_finite(assert_tensor(got, "out"), "out")
    assert_shape(values, (*q.shape[:-1], v.shape[-1]), "out")
    assert_close(values, torch.zeros(values.shape), "out", within=within, dtype=q.dtype)
    expected = slips.attention(*in_float64(q, k, v), rows=rows)
    assert_attention(values[..., rows, :], expected, slips.scaled(q)[..., rows, :], k, v)


def assert_pulled_back(got: Sequence[Any], q: Tensor, k: Tensor, v: Tensor, cotangent: Tensor, slips: Slips) -> None:
    """Gradients by q, k and v are those of attention, at every place, each up to a constant of its own."""
    oracles: list[dict[str, Tensor]] = []
    for tensors in (in_float64(q, k, v, cotangent), [q, k, v, cotangent]):
        leaves: list[Any] = [each.clone().requires_grad_() for each in tensors[:3]]
        (slips.attention(*leaves, rows=torch.arange(q.shape[-2])) * tensors[3]).sum().backward()
        oracles.append({name: assert_arrives(leaf.grad, name) for name, leaf in zip(NAMES, leaves, strict=True)})
    arrived = {name: assert_arrives(each, name) for name, each in zip(NAMES, got, strict=False)}
    assert_gradients({name: without_constant(each, oracles[0][name]) for name, each in arrived.items()}, *oracles)


def without_constant(got: Tensor, expected: Tensor) -> Tensor:
    """`got`, divided by the constant that a scale which is wrong in the backward pass alone multiplies it by."""
    if got.shape != expected.shape:
        return got
    constant = float((got.double() * expected).sum() / expected.square().sum())
    return got / constant if 0.01 < abs(constant) < 0.9 or 1.1 < abs(constant) < 100 else got


def constantly(value: Any) -> Callable[[int], Any]:
    """Gives `value` at every length."""
    return lambda _: value


def measuring(
    student: Any,
    attention: Any,
    cases: Cases,
    slips: Slips,
    forbids: Sequence[str],
    *rest: Any,
    axes: Sequence[int] = (1, 1),
    d: int = 64,
    more_keys: int = 0,
    grad: bool = False,
) -> Callable[[Sequence[int]], list[Any]]:
    """What measures `attention(q, k, v, *rest)` at each length, and compares the very call that it measures.

    Args:
        student: the fixture.
        attention: a function of the student's.
        cases: draws q, k, v and the cotangent, each (*axes, n, d).
        slips: of the function.
        forbids: the fixture: operators that must not have run.
        *rest: a chunk or a window, and whether it is causal.
        axes: how many sequences, and in which form: () is one.
        d: the width.
        more_keys: how many more keys than queries.
        grad: the backward pass belongs to it.
    """

    def measured(lengths: Sequence[int]) -> list[Any]:
        points: list[Any] = []
        for n in lengths:
            q, cotangent = cases.tensor(*axes, n, d), cases.tensor(*axes, n, d)
            k, v = cases.tensor(*axes, n + more_keys, d), cases.tensor(*axes, n + more_keys, d)
            given: tuple[Any, ...] = (q, k, v, *rest)
            pulled = [cotangent] if grad else []
            points += student.measure(attention, constantly(given), [n], make_cotangents=constantly(pulled))
            assert_own_work(points[-1], forbids, "your function")
            assert_rows(points[-1].value, q, k, v, slips, some_rows(cases, n))
            if grad:
                assert_pulled_back(points[-1].args, q, k, v, cotangent, slips)
        return points

    return measured
