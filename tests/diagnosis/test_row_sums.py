"""Hints about attention weights and masks."""

from __future__ import annotations

import math

import torch

from tests.diagnosis.attention_values import CALL, MASK, MASKED, SCORES, WEIGHTS, drawn, hint


def test_softmax_over_the_wrong_axis() -> None:
    assert hint((SCORES / math.sqrt(11)).softmax(0), WEIGHTS) == (
        "Your weights add up to 1 along axis 0, not along the last axis, as after a softmax over the wrong axis."
    )


def test_scores_that_are_too_large_are_seen_through_the_softmax() -> None:
    assert hint(SCORES.softmax(-1).float(), WEIGHTS, arguments=CALL) == (
        "Your weights are those of scores that are 3.317 times the expected ones; "
        "3.3166 is the square root of 11, the size of the last axis of argument 1."
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
    assert "a factor of its own" in said and "masked after it was normalised" in said


def test_weights_that_a_causal_mask_hides_where_there_should_be_none() -> None:
    square = WEIGHTS[:, : len(WEIGHTS)] / WEIGHTS[:, : len(WEIGHTS)].sum(-1, keepdim=True)
    causal = square.tril() / square.tril().sum(-1, keepdim=True)
    assert "all those of later keys, as under a causal mask" in hint(causal, square)
    band = square.triu(-1) / square.triu(-1).sum(-1, keepdim=True)
    assert "as if they were masked" in hint(band, square)


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
        "Your mask is True where j <= i; expected is j <= i + 2 (row i, column j)."
    )


def test_a_causal_mask_without_its_diagonal() -> None:
    full = torch.ones(4, 4, dtype=torch.bool)
    assert "j <= i - 1; expected is j <= i (" in hint(full.tril(-1), full.tril())


def test_an_upper_triangle_for_a_lower_one() -> None:
    full = torch.ones(4, 6, dtype=torch.bool)
    assert "j >= i + 1; expected is j <= i + 2" in hint(full.triu(1), full.tril(2))


def test_a_mask_of_one_value() -> None:
    assert hint(torch.ones(5, 7, dtype=torch.bool), MASK) == "Every entry of your mask is True."


def test_a_mask_in_numbers_or_to_be_added() -> None:
    assert "the numbers 0 and 1" in hint(MASK.float(), MASK)
    assert "0 and -inf" in hint(torch.zeros(5, 7).masked_fill(~MASK, -torch.inf), MASK)


def test_another_mask_is_called_nothing() -> None:
    assert hint(MASK.flip(1), MASK) == ""
