"""Ids and text: read in every reasonable form; what is none is one sentence; comparisons that ask for just enough."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

from autograder.testing.cases import Cases
from autograder.testing.mismatch import Mismatch
from support.ids import assert_ids, assert_text, assert_units, draw_text, ids_of

VOCAB = {0: b"a", 1: b"b", 2: b"ab", 3: b"<s>", 4: b" "}


def mismatch(call: Any, *args: Any) -> Mismatch:
    with pytest.raises(Mismatch) as caught:
        call(*args)
    return caught.value


@pytest.mark.parametrize(
    "got",
    [
        [1, 2],
        (1, 2),
        torch.tensor([1, 2]),
        torch.tensor([1, 2], dtype=torch.uint8),
        numpy.array([1, 2]),
        [torch.tensor(1), numpy.array(2)],
    ],
)
def test_ids_are_read_in_every_reasonable_form(got: Any) -> None:
    assert ids_of(got) == [1, 2]


def test_no_ids_are_read_from_an_empty_tensor_of_any_dtype() -> None:
    assert ids_of(torch.tensor([])) == ids_of(numpy.array([])) == []


@pytest.mark.parametrize(
    "got", [None, 3, "12", [1.0], [True], ["1"], [[1, 2]], torch.tensor([[1, 2]]), torch.tensor([1.0]), {1: 2}, b"ab"]
)
def test_what_is_no_list_of_ids_is_one_sentence(got: Any) -> None:
    assert mismatch(ids_of, got).expected in ("a list of ids", "an id, a single integer")


def test_ids_that_differ_are_told_as_tokens() -> None:
    told = mismatch(assert_ids, [0, 1, 9], [2, 4], VOCAB)
    assert told.expected == "2 ids, b'ab' b' '"
    assert told.got == "3 ids, b'a' b'b' 9 (no id of vocab)"
    assert mismatch(assert_ids, [], [0], VOCAB).got == "0 ids, (no more)"


def test_another_cut_of_the_same_text_has_the_same_units() -> None:
    assert_units([0, 1, 3, 3, 2], [2, 3, 3, 0, 1], VOCAB, ["<s>"])


@pytest.mark.parametrize("got", [[0, 1, 3, 2], [3, 2, 3, 0, 1], [2, 3, 3], [], [9]])
def test_a_special_token_elsewhere_is_told(got: list[int]) -> None:
    told = mismatch(assert_units, got, [2, 3, 3, 0, 1], VOCAB, ["<s>"])
    assert told.expected.startswith("4 pieces: ")
    assert told.expected.endswith("b'<s>' b'<s>' b'ab'")


def test_text_that_differs_is_shown_from_before_the_first_difference() -> None:
    told = mismatch(assert_text, "abcdefghijklmnoX", "abcdefghijklmnop")
    assert (told.expected, told.got) == ("...'hijklmnop' (16 characters)", "...'hijklmnoX' (16 characters)")
    assert mismatch(assert_text, b"ab", "ab").got == "a value of type bytes"


def test_drawn_text_is_the_same_every_time_and_of_the_alphabet() -> None:
    text, again = (draw_text(Cases(b"key", "check"), ("ab ", "c"), 50) for _ in range(2))
    assert text == again
    assert set(text) == set("ab c") and text.count("ab ") + text.count("c") == 50
