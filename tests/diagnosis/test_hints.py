"""Hints from the numbers: each is said where it holds, and none where it does not."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from autograder.diagnosis.hints import find_hint
from tests.diagnosis.attention_values import CALL, SCORES, WEIGHTS, drawn, hint, said_without_numbers

# ------------------------------------------------------------------ NaN and infinity


def test_all_nan() -> None:
    assert hint(torch.full((5, 7), torch.nan), SCORES) == "Every number is NaN."


def test_rows_of_nan_are_listed_and_the_others_are_right() -> None:
    got = SCORES.clone()
    got[[1, 3]] = torch.nan
    assert hint(got, SCORES) == "2 of 5 rows are NaN (1, 3); the others are right."


def test_rows_of_nan_beside_wrong_numbers_are_not_called_the_only_fault() -> None:
    got = 2 * SCORES
    got[1] = torch.nan
    assert hint(got, SCORES) == "1 of 5 rows are NaN (1)."


def test_nan_in_exactly_the_rows_that_should_be_0() -> None:
    expected = WEIGHTS.clone()
    expected[:2] = 0
    got = WEIGHTS.clone()
    got[:2] = torch.nan
    assert hint(got, expected) == "Rows 0, 1 are NaN, exactly those that should be 0; the others are right."
    mask = torch.ones(1, 9, dtype=torch.bool)
    assert hint(got, expected, arguments={"mask": mask}) == (
        "Rows 0, 1 are NaN, exactly those that should be 0, of queries that may attend to nothing; "
        "the others are right."
    )
    assert "0, 1" not in said_without_numbers(got, expected)


def test_rows_with_leading_axes_go_by_their_full_index() -> None:
    got, expected = torch.stack([SCORES, SCORES]), torch.stack([SCORES, SCORES])
    got[0, 1] = got[1, 3] = torch.nan
    assert hint(got, expected) == "2 of 10 rows are NaN ([0, 1], [1, 3]); the others are right."


def test_nan_of_queries_whose_mask_is_all_false() -> None:
    got = torch.stack([SCORES, SCORES])
    got[:, 1] = torch.nan
    mask = torch.ones(5, 9, dtype=torch.bool)
    mask[1] = False
    expected = torch.stack([SCORES, SCORES])
    words = "exactly those of queries that may attend to nothing (their row of the mask is all False)"
    assert words in hint(got, expected, arguments={"mask": mask})
    mask[2] = False
    assert words not in hint(got, expected, arguments={"mask": mask})


def test_scattered_nan_are_counted() -> None:
    got = SCORES.clone()
    got[0, 0] = torch.nan
    assert hint(got, SCORES) == "1 of 35 numbers are NaN."


def test_infinity_is_not_called_nan() -> None:
    got = SCORES.clone()
    got[0, 0] = torch.inf
    assert hint(got, SCORES) == "1 of 35 numbers are infinite."


# ------------------------------------------------------------------ dtypes, containers


def test_right_numbers_in_another_dtype() -> None:
    said = hint(SCORES, SCORES, asked=torch.float32)
    assert said == "The numbers are right, but their dtype is float64, not float32."


def test_wrong_numbers_in_another_dtype_are_not_called_right() -> None:
    assert hint(2.5 * SCORES, SCORES, asked=torch.float32) == ""


def test_a_step_in_bfloat16_shows_in_float32_numbers() -> None:
    assert "a step is computed in bfloat16" in hint(SCORES.to(torch.bfloat16).float(), SCORES)
    assert "a step is computed in float16" in hint(SCORES.to(torch.float16).float(), SCORES)


@pytest.mark.parametrize(
    ("got", "words"),
    [
        (None, "returned None"),
        ((WEIGHTS, SCORES), "returned a tuple; its entry 1 alone"),
        (SCORES.tolist(), "a Python list"),
        (numpy.asarray(SCORES), "a numpy array"),
    ],
)
def test_what_is_no_tensor_is_told(got: Any, words: str) -> None:
    assert words in hint(got, SCORES)


@pytest.mark.parametrize("got", ["text", {"a": 1}, [1, "x"], [[1], [1, 2]], 3, object(), [10**400]])
def test_anything_else_gives_no_hint_and_no_error(got: Any) -> None:
    assert hint(got, SCORES) == ""


# ------------------------------------------------------------------ nothing is said of what has nothing to do with it

shapes = st.sampled_from([(3,), (1, 2), (2, 3), (3, 3), (5, 7), (1, 5), (2, 5, 7), (2, 3, 5, 4), (6, 6)])


@settings(max_examples=300, deadline=None)
@given(shapes, st.integers(0, 2**31), st.sampled_from([torch.float32, torch.float64, torch.float16, torch.bfloat16]))
def test_unrelated_tensors_give_no_hint(shape: tuple[int, ...], seed: int, dtype: torch.dtype) -> None:
    assert hint(drawn(*shape, seed=seed, dtype=dtype), drawn(*shape, seed=seed + 1), arguments=CALL) == ""


@settings(max_examples=100, deadline=None)
@given(shapes, shapes, st.integers(0, 2**31))
def test_unrelated_tensors_of_other_shapes_give_no_hint(
    shape: tuple[int, ...], other: tuple[int, ...], seed: int
) -> None:
    assert hint(drawn(*shape, seed=seed), drawn(*other, seed=seed + 1), arguments=CALL) == ""


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([(2, 5), (3, 4), (5, 7), (2, 5, 7)]), st.integers(0, 2**31))
def test_unrelated_weights_give_no_hint(shape: tuple[int, ...], seed: int) -> None:
    got, expected = drawn(*shape, seed=seed).softmax(-1), drawn(*shape, seed=seed + 1).softmax(-1)
    assert hint(got, expected, arguments=CALL) == ""


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**31))
def test_unrelated_masks_give_no_hint(seed: int) -> None:
    assert hint(drawn(5, 7, seed=seed) > 0, drawn(5, 7, seed=seed + 1) > 0) == ""


@settings(max_examples=100, deadline=None)
@given(shapes, st.integers(0, 2**31), st.floats(0.002, 0.2))
def test_noise_upon_the_right_numbers_gives_no_hint(shape: tuple[int, ...], seed: int, noise: float) -> None:
    expected = drawn(*shape, seed=seed)
    said = hint(expected + noise * drawn(*shape, seed=seed + 1), expected, arguments=CALL)
    assert said == ""


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**31))
def test_a_factor_of_every_row_its_own_is_not_called_constant(seed: int) -> None:
    said = hint(drawn(5, 7, seed=seed) * (1 + drawn(5, 1, seed=seed + 1).abs()), drawn(5, 7, seed=seed))
    assert said.startswith("Each row is the expected one times a factor of its own")


def test_a_factor_that_rows_share_is_not_called_a_wrong_sum() -> None:
    """Slopes of heads, say: a sum would have another factor for each row."""
    factors = torch.tensor([0.5, 2.0, 3.0])[:, None, None]
    said = hint(drawn(3, 5, 7, seed=1) * factors, drawn(3, 5, 7, seed=1))
    assert "0.5 to 3: rows share factors, so a constant of theirs is wrong" in said


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (1,), (1, 1)])
def test_empty_and_single_numbers_give_no_hint_and_no_error(shape: tuple[int, ...]) -> None:
    assert hint(torch.ones(shape), torch.zeros(shape)) == ""


def test_what_a_student_made_to_break_us_breaks_nothing() -> None:
    big = torch.full((5, 7), 1e308, dtype=torch.float64)
    assert isinstance(hint(big, SCORES), str)
    assert isinstance(hint(torch.randn(5, 7, dtype=torch.complex64), SCORES), str)
    assert isinstance(hint(torch.ones(5, 7, dtype=torch.int64), SCORES), str)
    assert isinstance(hint(SCORES.requires_grad_(), SCORES.detach()), str)


def _odd_tensors(draw: st.DrawFn) -> Tensor:
    shape = draw(st.sampled_from([(), (0,), (1,), (3,), (3, 0), (1, 4), (4, 4), (3, 4), (2, 3, 4), (2, 1, 3, 4)]))
    values = st.sampled_from([0.0, 1.0, -1.0, 0.5, math.nan, math.inf, -math.inf, 1e-320, 1e30, 1e308])
    few = draw(st.lists(values, min_size=1, max_size=4))
    size = math.prod(shape)
    numbers = torch.tensor((few * (size + 1))[:size], dtype=torch.float64).reshape(shape)
    dtypes = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool, torch.complex64]
    dtype = draw(st.sampled_from(dtypes))
    return numbers.nan_to_num(0.0, 0.0, 0.0).to(dtype) if not dtype.is_floating_point else numbers.to(dtype)


odd_tensors = st.composite(_odd_tensors)()


@settings(max_examples=400, deadline=None)
@given(odd_tensors, odd_tensors, st.sampled_from(["", "dtype float32", "dtype ", "shape (2, 3)"]))
def test_no_pair_of_tensors_however_odd_is_an_error(got: Tensor, expected: Tensor, asked: str) -> None:
    said = hint(got, expected, arguments={"argument 1": got, "argument 2": expected, "mask": None}, asked=asked)
    assert isinstance(said, str)


@settings(max_examples=200, deadline=None)
@given(odd_tensors)
def test_the_expected_value_itself_gives_no_hint(value: Tensor) -> None:
    assert find_hint(value, value.clone(), arguments={"argument 2": value}) is None or not bool(
        torch.isfinite(value).all()
    )
