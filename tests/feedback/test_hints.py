"""Hints from the numbers: each is said where it holds, and none where it does not."""

import math
from typing import Any

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from autograder.feedback.hints import find_hint, hint


def drawn(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def said_without_numbers(got: Any, expected: Any, **context: Any) -> str:
    found = find_hint(got, expected, **context)
    assert found is not None
    return found.without_numbers


Q, K, V = drawn(5, 11), drawn(7, 11, seed=1), drawn(7, 13, seed=2)
CALL = {"argument 1": Q, "argument 2": K, "argument 3": V}
SCORES = Q @ K.T
WEIGHTS = (SCORES / math.sqrt(11)).softmax(-1)
MASK = torch.tensor(
    [
        [True, False, True, True, False, True, True],
        [False, True, True, False, True, True, True],
        [True, True, True, True, False, False, True],
        [True, False, False, True, True, True, False],
        [False, True, True, True, True, False, True],
    ]
)
MASKED = (SCORES / math.sqrt(11)).masked_fill(~MASK, -torch.inf).softmax(-1)

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


def test_two_numbers_are_too_few_for_a_factor() -> None:
    assert hint(torch.tensor([2.0, 4.0]), torch.tensor([1.0, 2.0])) == ""


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


@pytest.mark.parametrize(("dtype", "fewest"), [(torch.float32, 3), (torch.float16, 5), (torch.bfloat16, 8)])
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
        "Every number of your result is 0.14286, which is 1 / 7, and 7 is the size of axis 0 of argument 2."
    )


def test_an_argument_given_back_is_named() -> None:
    assert hint(Q, Q.softmax(-1), arguments=CALL) == "Your result is argument 1, unchanged."


# ------------------------------------------------------------------ axes, shapes, orders


def test_two_exchanged_axes_are_named() -> None:
    assert hint(SCORES.T, SCORES) == "The numbers are right, but axes 0 and 1 are exchanged."


def test_two_exchanged_axes_of_equal_size_are_seen_in_the_numbers() -> None:
    square = drawn(6, 6)
    assert hint(square.T.contiguous(), square) == "The numbers are right, but axes 0 and 1 are exchanged."


def test_heads_and_positions_exchanged_in_a_batch() -> None:
    x = drawn(2, 3, 5, 4)
    assert "axes 1 and 2 are exchanged" in hint(x.transpose(1, 2), x)


def test_three_axes_in_another_order() -> None:
    x = drawn(2, 3, 5)
    assert "axes are in another order: yours, taken as (1, 2, 0)" in hint(x.permute(2, 0, 1), x)


def test_a_shape_that_looks_exchanged_with_other_numbers_is_not_called_exchanged() -> None:
    assert hint(drawn(7, 5, seed=9), SCORES) == ""


def test_a_view_where_a_transpose_was_needed_is_not_called_exchanged() -> None:
    assert hint(SCORES.reshape(7, 5), SCORES) == (
        "The numbers are right, but your shape is (7, 5), expected is (5, 7)."
    )


@pytest.mark.parametrize(
    ("got", "expected", "words"),
    [
        (drawn(1, 5).squeeze(), drawn(1, 5), "an axis of size 1 is missing"),
        (drawn(5, 1), drawn(5), "there is an axis of size 1 too many"),
        (drawn(5, 1, 3), drawn(5, 3, 1).reshape(1, 5, 3), "an axis of size 1 is elsewhere"),
    ],
)
def test_axes_of_size_1_are_named(got: Tensor, expected: Tensor, words: str) -> None:
    assert words in hint(got, expected)


def test_a_mean_over_heads_is_called_a_mean() -> None:
    x = drawn(2, 3, 5, 7)
    assert hint(x.mean(1), x) == "Your result is the mean of the expected one over axis 1."
    assert hint(x.sum(1, keepdim=True), x) == "Your result is the sum of the expected one over axis 1."


def test_one_head_of_several_is_called_so() -> None:
    x = drawn(2, 3, 5, 7)
    assert hint(x[:, 2], x) == "Your result is only entry 2 along axis 1 of the expected one."


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ([0, 2, 4, 1, 3, 5], "the even places come first"),
        ([0, 3, 1, 4, 2, 5], "the two halves come in turn"),
        ([1, 0, 3, 2, 5, 4], "neighbours (0 and 1, 2 and 3, ...) are exchanged"),
        ([5, 4, 3, 2, 1, 0], "they come in reverse"),
        ([5, 0, 1, 2, 3, 4], "they are turned round by 1"),
        ([0, 2, 1, 3, 5, 4], "they stand in another order (0, 2, 1, 3, 5, 4)"),
    ],
)
def test_an_order_along_the_last_axis_has_a_name(order: list[int], words: str) -> None:
    x = drawn(4, 6)
    assert hint(x[:, order], x).startswith(f"The numbers are right, but along the last axis {words}")


def test_heads_in_another_order_are_found_along_their_axis() -> None:
    x = drawn(2, 3, 5, 7)
    assert "along axis 1 they come in reverse" in hint(x.flip(1), x)


def test_positions_that_begin_at_one_come_one_too_early() -> None:
    table = drawn(8, 6)
    assert hint(table[1:], table[:-1]) == "Along axis 0 every number comes one too early."


def test_right_in_the_first_batch_only() -> None:
    expected = drawn(3, 5, 7)
    got = expected.clone()
    got[1:] = drawn(2, 5, 7, seed=5)
    assert hint(got, expected) == "Right at 0 along axis 0, wrong at 1, 2."


def test_an_error_that_is_small_in_some_places_is_not_called_right_there() -> None:
    expected = drawn(3, 5, 7)
    got = expected.clone()
    got[1:] += 5e-4 * expected.abs().max()
    assert hint(got, expected) == ""


def test_two_rows_that_come_in_reverse_are_too_few_to_say_so() -> None:
    x = drawn(2, 5)
    assert hint(x.flip(0), x) == ""


def test_an_expected_value_that_is_all_zero_is_no_danger() -> None:
    assert hint(drawn(4, 5), torch.zeros(4, 5)) == ""


def test_a_first_row_that_any_causal_attention_gets_right_tells_nothing() -> None:
    expected = drawn(5, 5).masked_fill(torch.ones(5, 5).triu(1).bool(), -torch.inf).softmax(-1)
    got = drawn(5, 5, seed=3).masked_fill(torch.ones(5, 5).triu(1).bool(), -torch.inf).softmax(-1)
    assert "Right at" not in hint(got, expected)


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
    assert hint(got, expected) == (
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


# ------------------------------------------------------------------ weights and masks


def test_softmax_over_the_wrong_axis() -> None:
    assert hint((SCORES / math.sqrt(11)).softmax(0), WEIGHTS) == (
        "Your weights add up to 1 along axis 0, not along the last axis, as after a softmax over the wrong axis."
    )


def test_scores_that_are_too_large_are_seen_through_the_softmax() -> None:
    assert hint(SCORES.softmax(-1).float(), WEIGHTS, arguments=CALL) == (
        "Your weights are those of scores that are 3.317 times the expected ones; "
        "3.317 is the square root of 11, the size of the last axis of argument 1."
    )


def test_scores_divided_twice_are_seen_through_the_softmax_of_a_masked_row() -> None:
    got = (SCORES / 11).masked_fill(~MASK, -torch.inf).softmax(-1)
    assert "1 / the square root of 11" in hint(got, MASKED, arguments=CALL)


def test_scores_with_the_wrong_sign() -> None:
    assert "opposite sign" in hint((-SCORES / math.sqrt(11)).softmax(-1), WEIGHTS)


def test_weights_that_only_look_like_those_of_smaller_scores_are_not_called_so() -> None:
    large = drawn(3, 5) + 100
    assert "scores" not in hint(large / large.sum(-1, keepdim=True), large.softmax(-1))


def test_scores_that_are_not_a_multiple_are_not_called_one() -> None:
    got = (SCORES / math.sqrt(11) + 0.3 * drawn(5, 7, seed=8)).softmax(-1)
    assert hint(got, WEIGHTS, arguments=CALL) == ""


def test_a_mask_the_other_way_round_in_the_weights() -> None:
    got = SCORES.masked_fill(MASK, -torch.inf).softmax(-1)
    assert "0 exactly where they should not be" in hint(got, MASKED)


def test_a_mask_that_is_ignored() -> None:
    assert hint(WEIGHTS, MASKED) == (
        f"{int((~MASK).sum())} of {int((~MASK).sum())} weights that should be 0 are not, "
        "and the others are right but for that, as if no mask had been used there."
    )


def test_a_mask_after_the_softmax_leaves_rows_that_do_not_add_up() -> None:
    said = hint(WEIGHTS * MASK, MASKED)
    assert "a factor of its own" in said and "after the softmax" in said


def test_scores_returned_in_place_of_weights() -> None:
    assert "The softmax of your result would be right" in hint(SCORES / math.sqrt(11), WEIGHTS)


def test_log_softmax_in_place_of_softmax() -> None:
    assert "logarithm" in hint((SCORES / math.sqrt(11)).log_softmax(-1), WEIGHTS)


def test_softmax_taken_twice() -> None:
    assert "taken twice" in hint(WEIGHTS.softmax(-1), WEIGHTS)


def test_rows_that_should_be_0_and_are_uniform() -> None:
    expected = WEIGHTS.clone()
    expected[:2] = 0
    got = WEIGHTS.clone()
    got[:2] = 1 / 7
    assert hint(got, expected) == (
        "Rows 0, 1 should be 0 (queries that may attend to nothing) and are not; everything else is right."
    )


def test_an_inverted_boolean_mask() -> None:
    assert "opposite" in hint(~MASK, MASK)


def test_a_transposed_boolean_mask() -> None:
    square = MASK[:, :5]
    assert "transpose" in hint(square.T, square)


def test_a_causal_mask_aligned_with_the_first_key() -> None:
    full = torch.ones(3, 5, dtype=torch.bool)
    assert hint(full.tril(0), full.tril(2)) == (
        "Your mask is True where j <= i +0; expected is j <= i +2 (row i, column j)."
    )


def test_a_causal_mask_without_its_diagonal() -> None:
    full = torch.ones(4, 4, dtype=torch.bool)
    assert "j <= i -1; expected is j <= i +0" in hint(full.tril(-1), full.tril())


def test_an_upper_triangle_for_a_lower_one() -> None:
    full = torch.ones(4, 6, dtype=torch.bool)
    assert "j >= i +1; expected is j <= i +2" in hint(full.triu(1), full.tril(2))


def test_a_mask_of_one_value() -> None:
    assert hint(torch.ones(5, 7, dtype=torch.bool), MASK) == "Every entry of your mask is True."


def test_a_mask_in_numbers_or_to_be_added() -> None:
    assert "the numbers 0 and 1" in hint(MASK.float(), MASK)
    assert "0 and -inf" in hint(torch.zeros(5, 7).masked_fill(~MASK, -torch.inf), MASK)


def test_another_mask_is_called_nothing() -> None:
    assert hint(MASK.flip(1), MASK) == ""


# ------------------------------------------------------------------ dtypes, containers


def test_right_numbers_in_another_dtype() -> None:
    said = hint(SCORES, SCORES, asked="dtype float32")
    assert said == "The numbers are right, but their dtype is float64, not float32."


def test_wrong_numbers_in_another_dtype_are_not_called_right() -> None:
    assert hint(2.5 * SCORES, SCORES, asked="dtype float32") == ""


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
    assert hint(drawn(5, 7, seed=seed) * (1 + drawn(5, 1, seed=seed + 1).abs()), drawn(5, 7, seed=seed)) == ""


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
