"""`Mismatch`, the recorder, and the few numbers that a student is shown."""

from __future__ import annotations

import numpy
import torch

from autograder.testing.mismatch import Mismatch, compared, describe, places, recorder, row_at


def test_a_mismatch_says_what_was_expected_and_what_came() -> None:
    mismatch = Mismatch("weights", "rows that sum to 1", "rows that sum to 2", hint="twice as much")
    assert str(mismatch) == "weights: expected rows that sum to 1, got rows that sum to 2 (twice as much)"
    assert isinstance(mismatch, AssertionError)
    assert mismatch.case == ""


def test_a_comparison_without_a_recorder_is_no_error() -> None:
    compared(torch.ones(2), torch.ones(2), "out")
    assert recorder.get() is None


def test_a_recorder_is_told_of_every_comparison_in_order() -> None:
    seen: list[tuple[object, object, str]] = []
    token = recorder.set(lambda got, expected, what: seen.append((got, expected, what)))
    try:
        compared(1, 2, "first")
        compared("a", None, "second")
    finally:
        recorder.reset(token)
    assert seen == [(1, 2, "first"), ("a", None, "second")]


def test_a_row_is_shown_whole_when_it_is_short() -> None:
    values = torch.tensor([[1.0, 2.0], [0.5, 1 / 3]])
    assert row_at("out", values, (1, 0)) == "out[1, :] = 0.5, 0.3333"


def test_of_a_long_row_the_numbers_around_the_place_are_shown() -> None:
    values = torch.arange(20.0)
    assert row_at("out", values, (10,)) == "out[7:13] = 7, 8, 9, 10, 11, 12"
    assert row_at("out", values, (19,)) == "out[14:20] = 14, 15, 16, 17, 18, 19"
    assert row_at("out", values, (0,)) == "out[0:6] = 0, 1, 2, 3, 4, 5"


def test_booleans_and_integers_are_shown_as_such() -> None:
    assert row_at("mask", torch.tensor([True, False]), (0,)) == "mask[:] = True, False"
    assert row_at("ids", torch.tensor([7, 1000000]), (0,)) == "ids[:] = 7, 1000000"
    assert row_at("loss", torch.tensor(float("nan")), ()) == "loss = nan"


def test_kinds_of_values_are_described_in_few_words() -> None:
    assert describe(torch.zeros(2, 5)) == "a tensor of shape (2, 5) and dtype float32"
    assert describe(numpy.zeros(3)) == "a numpy array of shape (3,)"
    assert describe((1, 2)) == "a tuple of 2"
    assert describe(None) == "None"
    assert describe(3.5) == "3.5"
    assert describe("text") == "a value of type str"


def test_places_are_the_indices_of_every_true() -> None:
    assert places(torch.tensor([[False, True], [True, False]])) == [(0, 1), (1, 0)]


def test_places_are_those_of_nonzero() -> None:
    where = torch.rand(3, 1, 40, 7, generator=torch.Generator().manual_seed(0)) < 0.5
    assert places(where) == [tuple(row) for row in where.nonzero().tolist()]
    assert places(torch.tensor(True)) == [()]
    assert places(torch.zeros(0, 3, dtype=torch.bool)) == []


def test_places_of_terabytes_cost_no_more_than_the_first_thousand() -> None:
    assert places(torch.ones(1, dtype=torch.bool).expand(1 << 40)) == [(i,) for i in range(1000)]
