"""Hints about where the numbers stand: axes, shapes, orders, right in part."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.diagnosis.attention_values import SCORES, drawn, hint, said_without_numbers


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
        (
            [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11],
            "the first of every group of 3 come first, then the second of every group",
        ),
    ],
)
def test_an_order_along_the_last_axis_has_a_name(order: list[int], words: str) -> None:
    x = drawn(4, len(order))
    assert hint(x[:, order], x).startswith(f"The numbers are right, but along the last axis {words}")


def test_heads_in_another_order_are_found_along_their_axis() -> None:
    x = drawn(2, 3, 5, 7)
    assert "along axis 1 they come in reverse" in hint(x.flip(1), x)


def test_positions_that_begin_at_one_come_one_too_early() -> None:
    table = drawn(8, 6)
    assert hint(table[1:], table[:-1]) == "Every token (axis 0) comes one place too early."


def test_a_table_that_ends_is_right_up_to_there() -> None:
    expected = drawn(3, 9, 7)
    got = expected.clone()
    got[:, 5:] = drawn(3, 4, 7, seed=5)
    words = "Up to token 4 (axis 1) all numbers are right, from token 5 on wrong."
    assert hint(got, expected) == words
    assert said_without_numbers(got, expected) == "The first tokens are right, the later ones wrong."


@pytest.mark.parametrize("wrong", [[1, 3], [0, 4], [2]])
def test_places_here_and_there_that_are_wrong_are_no_cause(wrong: list[int]) -> None:
    expected = drawn(5, 7)
    got = expected.clone()
    got[wrong] = drawn(len(wrong), 7, seed=5)
    assert hint(got, expected) == ""


def test_heads_merged_by_a_reshape_alone_are_mixed_with_tokens() -> None:
    heads = drawn(2, 3, 5, 4)
    expected = heads.transpose(1, 2).reshape(2, 5, 12)
    assert hint(heads.reshape(2, 5, 12), expected).startswith("Two axes are mixed")


def test_numbers_that_stand_in_other_places_are_told_from_other_numbers() -> None:
    expected = drawn(4, 5)
    shuffled = expected.flatten()[torch.randperm(20, generator=torch.Generator().manual_seed(1))].reshape(4, 5)
    assert hint(shuffled, expected) == "All numbers are there, but stand in other places."


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
