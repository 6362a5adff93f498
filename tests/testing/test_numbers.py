"""Comparisons: finite first, then shape, then dtype, then values; and nothing that is no number passes."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from autograder.testing.mismatch import Mismatch, recorder
from autograder.testing.numbers import (
    FLOOR,
    assert_close,
    assert_same,
    attention_bounds,
    bound_by_reference,
    parts_of,
    rounding,
    softmax_bound,
)

EXPECTED = torch.tensor([[0.25, 0.75], [0.5, 0.5]], dtype=torch.float64)


def refused(got: Any, **kwargs: Any) -> Mismatch:
    with pytest.raises(Mismatch) as raised:
        assert_close(got, EXPECTED, "softmax", **{"within": 1e-6, "dtype": torch.float32, **kwargs})
    return raised.value


def test_a_value_within_the_bound_passes() -> None:
    assert_close(EXPECTED.float() + 9e-7, EXPECTED, "softmax", within=1e-6, dtype=torch.float32)


def test_a_value_beyond_the_bound_is_shown_where_it_is_worst() -> None:
    got = EXPECTED.float()
    got[1, 0] += 0.25
    mismatch = refused(got)
    assert mismatch.expected == "softmax[1, :] = 0.5, 0.5"
    assert mismatch.got == "softmax[1, :] = 0.75, 0.5 (error 0.25, rounding allows 1e-06)"


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_nan_and_infinity_never_pass_however_wide_the_bound(bad: float) -> None:
    got = EXPECTED.float()
    got[0, 1] = bad
    mismatch = refused(got, within=float("inf"))
    assert mismatch.expected == "finite numbers in softmax"
    assert "NaN comes of 0 / 0" in mismatch.hint


def test_a_bound_that_is_nan_lets_nothing_pass() -> None:
    refused(EXPECTED.float(), within=float("nan"))


def test_not_finite_is_said_before_the_shape_is() -> None:
    assert refused(torch.full((3,), torch.nan)).expected == "finite numbers in softmax"


def test_the_shape_is_said_before_the_dtype_is() -> None:
    mismatch = refused(torch.zeros(2, 3, dtype=torch.float64))
    assert (mismatch.expected, mismatch.got) == ("shape (2, 2)", "shape (2, 3)")


def test_a_shape_that_would_broadcast_is_another_shape() -> None:
    assert refused(torch.tensor(0.5)).got == "shape ()"


def test_the_dtype_is_said_before_the_values_are() -> None:
    mismatch = refused(torch.zeros(2, 2, dtype=torch.float64))
    assert (mismatch.expected, mismatch.got) == ("dtype float32", "dtype float64")


def test_integers_are_no_floating_point_numbers_where_any_dtype_will_do() -> None:
    mismatch = refused(torch.zeros(2, 2, dtype=torch.int64), dtype=None)
    assert (mismatch.expected, mismatch.got) == (
        "a tensor of floating-point numbers",
        "a tensor of shape (2, 2) and dtype int64",
    )


@pytest.mark.parametrize("got", [None, 0.5, [[0.25, 0.75], [0.5, 0.5]], EXPECTED.numpy(), "tensor"])
def test_what_is_no_tensor_is_refused_by_its_kind(got: Any) -> None:
    assert refused(got).expected == "a tensor"


def test_views_expanded_tensors_and_those_that_require_grad_are_tensors() -> None:
    expected = torch.ones(3, 4, dtype=torch.float64)
    for got in (torch.ones(1).expand(3, 4), torch.ones(4, 3).t(), torch.ones(3, 4, requires_grad=True) * 1):
        assert_close(got, expected, "out", within=0.0, dtype=torch.float32)


def test_nothing_of_the_right_shape_is_right() -> None:
    assert_close(torch.zeros(0, 3), torch.zeros(0, 3, dtype=torch.float64), "out", within=0.0, dtype=torch.float32)


def test_every_comparison_is_recorded_before_it_can_fail() -> None:
    seen: list[str] = []
    token = recorder.set(lambda _got, _expected, what: seen.append(what))
    try:
        for wrong in (None, torch.zeros(3), torch.full((2, 2), torch.nan)):
            refused(wrong)
        with pytest.raises(Mismatch):
            assert_same(None, torch.ones(2), "mask")
        with pytest.raises(Mismatch):
            parts_of(None, "out", "weights")
    finally:
        recorder.reset(token)
    assert seen == ["softmax", "softmax", "softmax", "mask", "result"]


def test_same_means_every_value_and_the_dtype() -> None:
    mask = torch.tensor([[True, False], [True, True]])
    assert_same(mask.clone(), mask, "mask")
    with pytest.raises(Mismatch, match=r"expected mask\[1, :\] = True, True, got mask\[1, :\] = True, False"):
        assert_same(torch.tensor([[True, False], [True, False]]), mask, "mask")
    with pytest.raises(Mismatch, match="expected dtype bool, got dtype float32"):
        assert_same(mask.float(), mask, "mask")


def test_a_pair_may_come_as_a_list() -> None:
    assert parts_of([1, 2], "out", "weights") == (1, 2)
    assert parts_of((1, 2), "out", "weights") == (1, 2)


@pytest.mark.parametrize("got", [torch.zeros(2, 3), (1,), (1, 2, 3), None, {"out": 1, "weights": 2}])
def test_what_is_no_pair_is_refused_even_a_tensor_that_unpacks_into_two(got: Any) -> None:
    with pytest.raises(Mismatch, match=r"the 2 values \(out, weights\)"):
        parts_of(got, "out", "weights")


def test_float64_may_be_rounded_like_float32() -> None:
    assert rounding(torch.float64) == rounding(torch.float32) == torch.finfo(torch.float32).eps
    assert rounding(torch.bfloat16) == torch.finfo(torch.bfloat16).eps


def test_bounds_grow_with_sizes_and_magnitudes_as_they_say() -> None:
    eps = torch.finfo(torch.float32).eps
    x = torch.tensor([[3.0, -4.0, -torch.inf], [0.0, 0.0, 0.0]])
    assert softmax_bound(x) == pytest.approx(eps * (2 + 3 + 2 * 4))
    q, k, v = torch.tensor([[1.0, -2.0, 2.0, 0.0]]), torch.ones(300, 4), torch.full((300, 2), -10.0)
    out, weights = attention_bounds(q, k, v)
    assert weights == pytest.approx(eps * (2 + 300 + 5 / 2))
    assert attention_bounds(q, k[:3], v[:3])[1] == FLOOR
    assert out == pytest.approx(10 * weights)


def test_the_reference_bounds_by_its_own_error_or_by_the_floor() -> None:
    expected = torch.tensor([2.0, 1.0], dtype=torch.float64)
    assert bound_by_reference(expected.float(), expected) == pytest.approx(2e-5)
    assert bound_by_reference(expected.float() + 0.25, expected) == pytest.approx(1.0)
    assert bound_by_reference(expected.half(), expected) == pytest.approx(16 * torch.finfo(torch.float16).eps)
