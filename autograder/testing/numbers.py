"""Is a tensor the expected one up to rounding, and how much rounding is allowed?

Tensors are compared in this order: finite, shape, dtype, values. The student reads the first that differs. Bounds
follow from dtype, sizes and magnitudes, so that every correct formula passes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from autograder.testing.mismatch import Mismatch, compared, describe, dtype_name, places, row_at

FLOOR = 1e-5
"""Relative error that is allowed in float32 and float64 wherever exactness is not what a check is about."""


def rounding(dtype: torch.dtype) -> float:
    """The relative rounding to allow for: eps of the dtype; float32's for float64, as constants may be float32."""
    return torch.finfo(torch.float32 if dtype == torch.float64 else dtype).eps


def relative_floor(dtype: torch.dtype) -> float:
    """The relative error that is allowed at least: `FLOOR`, and 8 eps of the half types."""
    return FLOOR if dtype in (torch.float32, torch.float64) else 8 * torch.finfo(dtype).eps


def softmax_bound(x: Tensor) -> float:
    """The error allowed for softmax over any axis of `x`: eps x (2 + n + 2 max|x|) for the longest axis n and finite x.

    exp turns an absolute error of its argument into a relative one of its result, and x - logsumexp(x) is rounded at
    the size of x.
    """
    longest = max(x.shape, default=1)
    largest = float(x.double()[torch.isfinite(x)].abs().max())
    return rounding(x.dtype) * (2 + longest + 2 * largest)


def attention_bounds(q: Tensor, k: Tensor, v: Tensor) -> tuple[float, float]:
    """The error allowed for outputs of attention, eps x (2 + n_k + S) x max|v|, and for weights, without max|v|.

    S is the largest sum |q||k| / sqrt(d) over all pairs: a score's rounding error, which exp turns into a relative
    one. In float32 and float64 it is at least `FLOOR`.

    Args:
        q: (..., n_q, d).
        k: (..., n_k, d).
        v: (..., n_k, d_v).
    """
    n_k, d = k.shape[-2:]
    sums = q.double().abs() @ k.double().abs().transpose(-2, -1) / math.sqrt(d)
    weights = max(relative_floor(q.dtype), rounding(q.dtype) * (2 + n_k + float(sums.max())))
    return weights * float(v.double().abs().max()), weights


def bound_by_reference(own: Tensor, expected: Tensor) -> float:
    """The error allowed where no bound is known: four times the reference's own error in that dtype, or a floor.

    The floor is 1e-5 x max|expected| in float32 and float64, 8 eps x max|expected| in half types.

    Args:
        own: the reference's result in the dtype of the check.
        expected: its result in float64.
    """
    floor = relative_floor(own.dtype)
    if not expected.numel():
        return 0.0
    error = float((own.double() - expected.double()).abs().max())
    return max(4 * error, floor * float(expected.double().abs().max()))


def assert_close(got: Any, expected: Tensor, what: str, *, within: float, dtype: torch.dtype | None = None) -> None:
    """`got` is a finite tensor of the shape of `expected`, of `dtype`, and nowhere further from it than `within`.

    Args:
        got: what the student's function gave: anything.
        expected: the oracle, as a rule in float64.
        what: the name of the value, for the message.
        within: the largest absolute error allowed.
        dtype: what `got` must have; None allows any floating-point dtype.

    Raises:
        Mismatch: with the numbers around the worst place.
    """
    compared(got, expected, what)
    values = assert_finite(assert_tensor(got, what), what)
    assert_shape(values, tuple(expected.shape), what)
    if dtype is not None:
        assert_dtype(values, dtype, what)
    elif not values.is_floating_point():
        raise Mismatch(what, "a tensor of floating-point numbers", describe(values))
    if not values.numel():
        return
    error = (values.double() - expected.double()).abs()
    worst = float(error.max())
    if not worst <= within:
        place = places(error == error.max())[0]
        got_row = f"{row_at(what, values, place)} (error {worst:.2g}, rounding allows {within:.2g})"
        raise Mismatch(what, row_at(what, expected, place), got_row)


def assert_same(got: Any, expected: Tensor, what: str) -> None:
    """`got` is exactly `expected`: shape, dtype and each value. For masks, indices and copies.

    Raises:
        Mismatch: with the numbers around the first place that differs.
    """
    compared(got, expected, what)
    values = assert_tensor(got, what)
    assert_shape(values, tuple(expected.shape), what)
    assert_dtype(values, expected.dtype, what)
    different = values != expected
    if bool(different.any()):
        place = places(different)[0]
        raise Mismatch(what, row_at(what, expected, place), row_at(what, values, place))


def assert_tensor(got: Any, what: str) -> Tensor:
    """`got` is a tensor; it is returned on the CPU, without a graph."""
    if not isinstance(got, Tensor):
        raise Mismatch(what, "a tensor", describe(got))
    return got.detach().cpu()


def assert_finite(got: Tensor, what: str) -> Tensor:
    """No entry of `got` is NaN or infinite; it is returned."""
    if not bool(torch.isfinite(got).all()):
        place = places(~torch.isfinite(got))[0]
        hint = "NaN comes of 0 / 0, of infinity - infinity and of 0 * infinity; exp of a large number is infinity"
        if what.startswith("gradient"):
            hint += "; replaced only afterwards (torch.where, nan_to_num), it still is NaN in the gradient"
        raise Mismatch(what, f"finite numbers in {what}", row_at(what, got, place), hint)
    return got


def assert_shape(got: Tensor, shape: Sequence[int], what: str) -> None:
    """`got` has this shape."""
    if tuple(got.shape) != tuple(shape):
        raise Mismatch(what, f"shape {tuple(shape)}", f"shape {tuple(got.shape)}")


def assert_dtype(got: Tensor, dtype: torch.dtype, what: str) -> None:
    """`got` has this dtype."""
    if got.dtype != dtype:
        raise Mismatch(what, f"dtype {dtype_name(dtype)}", f"dtype {dtype_name(got.dtype)}", dtype=dtype)


def parts_of(got: Any, *names: str) -> tuple[Any, ...]:
    """The values that a function returned in a tuple or list: `out, weights = parts_of(got, "out", "weights")`.

    Raises:
        Mismatch: if `got` is not a tuple or list of that length.
    """
    if not isinstance(got, (tuple, list)) or len(got) != len(names):  # pyright: ignore[reportUnknownArgumentType]
        compared(got, None, "result")
        raise Mismatch("result", f"the {len(names)} values ({', '.join(names)})", describe(got))
    return tuple(got)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
