"""Hints about how large the numbers are: factors with their names, offsets, constants."""

from __future__ import annotations

import math

import pytest
import torch

from tests.diagnosis.attention_values import CALL, SCORES, WEIGHTS, Q, drawn, hint, said_without_numbers

# ------------------------------------------------------------------ a constant factor, and what it equals


def test_the_square_root_of_11_is_named_with_the_axis_whose_size_it_is() -> None:
    said = hint((SCORES).float(), SCORES / math.sqrt(11), arguments=CALL)
    assert said == (
        "Your result is 3.3166 times the expected one; "
        "3.3166 is the square root of 11, the size of the last axis of argument 1."
    )


def test_a_hidden_check_is_told_the_same_without_a_number() -> None:
    assert said_without_numbers(SCORES, SCORES / math.sqrt(11), arguments=CALL) == (
        "Your result is the expected one times a constant: the square root of the size of the last axis of argument 1."
    )


@pytest.mark.parametrize(
    ("factor", "name"),
    [
        (1 / math.sqrt(11), "1 / the square root of 11"),
        (7.0, "the size of axis 0 of argument 2"),
        (1 / 13, "1 / 13, and 13 is the size of the last axis of argument 3"),
        (11**0.25, "the fourth root of 11"),
        (math.e, "e."),
        (1 / math.log(2), "1 / the natural logarithm of 2"),
        (-math.sqrt(11), "minus the square root of 11"),
    ],
)
def test_other_factors_are_named_where_they_equal_something(factor: float, name: str) -> None:
    assert name in hint(SCORES * factor, SCORES, arguments=CALL)


def test_a_factor_that_equals_nothing_known_is_told_as_a_number() -> None:
    assert hint(SCORES * 3.4567, SCORES, arguments=CALL) == "Your result is 3.4567 times the expected one."


def test_a_factor_near_a_root_is_not_called_the_root() -> None:
    assert "root" not in hint(SCORES * math.sqrt(11) * 1.002, SCORES, arguments=CALL)


def test_one_number_that_differs_is_enough_to_make_a_factor_unsaid() -> None:
    got = SCORES * 2
    got[2, 3] += 0.05 * float(SCORES.abs().max())
    assert "times" not in hint(got, SCORES, arguments=CALL)


def test_two_numbers_are_too_few_for_a_factor_without_a_name() -> None:
    assert hint(torch.tensor([2.3, 4.6]), torch.tensor([1.0, 2.0])) == ""


def test_a_wrong_sign_is_called_so() -> None:
    assert hint(-SCORES, SCORES) == "Every number has the wrong sign."


@pytest.mark.parametrize(("dtype", "expected"), [(torch.float16, "square root of 11"), (torch.bfloat16, "times")])
def test_half_types_are_judged_by_their_own_rounding(dtype: torch.dtype, expected: str) -> None:
    said = hint(SCORES.to(dtype), SCORES / math.sqrt(11), arguments=CALL)
    assert expected in said
    assert dtype != torch.bfloat16 or "root" not in said


def test_rounding_in_bfloat16_is_not_called_a_factor() -> None:
    assert "times" not in hint((SCORES * 1.02).to(torch.bfloat16), SCORES)


def test_a_factor_of_parallel_rows_is_told_only_where_it_has_a_name() -> None:
    gradient = drawn(5, 1) * drawn(1, 3, seed=1)
    assert hint(1.0216 * gradient, gradient, arguments=CALL) == ""
    assert "square root of 11" in hint(math.sqrt(11) * gradient, gradient, arguments=CALL)


def test_2_is_not_called_a_size_that_happens_to_be_2() -> None:
    assert hint(SCORES * 2, SCORES, arguments={"argument 1": drawn(2, 5, 11)}) == (
        "Your result is 2 times the expected one."
    )


@pytest.mark.parametrize(("dtype", "fewest"), [(torch.float32, 2), (torch.float16, 4), (torch.bfloat16, 6)])
def test_the_coarser_a_dtype_the_more_numbers_must_agree(dtype: torch.dtype, fewest: int) -> None:
    for count in (fewest - 1, fewest):
        x = drawn(count)
        assert bool(hint((2 * x).to(dtype), x)) is (count == fewest)


def test_an_offset_is_told_with_its_direction() -> None:
    assert hint(SCORES + 1.5, SCORES) == "Every number is 1.5 too large."
    assert said_without_numbers(SCORES - 1.5, SCORES) == "Every number is too small by the same amount."


# ------------------------------------------------------------------ constants and arguments


def test_all_zeros_are_called_so() -> None:
    assert hint(torch.zeros(5, 7), SCORES) == "Every number of your result is 0."


def test_uniform_weights_are_one_over_a_size() -> None:
    said = hint(torch.full((5, 7), 1 / 7), WEIGHTS, arguments=CALL)
    assert said == (
        "Every number of your result is 0.14286; 0.14286 is 1 / 7, and 7 is the size of axis 0 of argument 2."
    )


def test_an_argument_given_back_is_named() -> None:
    assert hint(Q, Q.softmax(-1), arguments=CALL) == "Your result is argument 1, unchanged."
