"""A value in a few hundred bytes, and whether two are the same up to rounding."""

import math
from typing import Any

import msgspec
import numpy
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from autograder.diagnosis.fingerprint import agree, fingerprint


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def same(a: Any, b: Any) -> bool:
    return agree(fingerprint(a), fingerprint(b))


def test_two_ways_to_compute_one_thing_agree() -> None:
    x = drawn(2, 5, 7)
    assert same(x.softmax(-1), x.exp() / x.exp().sum(-1, keepdim=True))


def test_another_value_does_not_agree() -> None:
    assert not same(drawn(5, 7), drawn(5, 7, seed=1))


def test_a_difference_of_a_thousandth_of_the_largest_is_seen() -> None:
    x = drawn(5, 7)
    y = x.clone()
    y[3, 2] += 1e-3 * float(x.abs().max())
    assert not same(x, y)


@pytest.mark.parametrize("change", [Tensor.double, Tensor.numpy, lambda x: x.reshape(7, 5), lambda x: x.unsqueeze(0)])
def test_another_dtype_kind_or_shape_is_another_value(change: Any) -> None:
    x = drawn(5, 7)
    assert not same(x, change(x))


def test_nan_in_the_same_places_agrees_and_in_other_places_does_not() -> None:
    a, b = drawn(5, 7), drawn(5, 7)
    a[0], b[0] = torch.nan, torch.nan
    assert same(a, b)
    b[1] = torch.nan
    assert not same(a, b)


def test_infinities_are_told_apart_by_sign() -> None:
    assert same(torch.tensor([1.0, torch.inf]), torch.tensor([1.0, torch.inf]))
    assert not same(torch.tensor([1.0, torch.inf]), torch.tensor([1.0, -torch.inf]))


def test_entries_between_those_that_are_kept_count_too() -> None:
    x = drawn(100, 100)
    y = x.clone()
    y[50:60, 1:4] = 0
    assert not same(x, y)


def test_entries_exchanged_between_those_that_are_kept_are_seen() -> None:
    x = drawn(100, 100)
    assert not same(x, x.flip(0).flip(0)[:, torch.arange(100).roll(1)])


def test_half_types_are_judged_by_their_own_rounding() -> None:
    x = drawn(5, 7)
    assert same(x.to(torch.bfloat16), (x * 1.003).to(torch.bfloat16))
    assert not same(x, x * 1.003)


def test_integers_and_booleans_are_exact() -> None:
    x = torch.arange(20)
    assert same(x, x.clone())
    assert not same(x, torch.where(x == 7, 8, x))
    assert not same(x > 3, x > 4)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (None, None, True),
        (1, 1, True),
        (1, True, False),
        (1, 1.0, False),
        (0.1 + 0.2, 0.3, True),
        ("ab", "ab", True),
        ("ab", b"ab", False),
        ([1, 2], [1, 2], True),
        ([1, 2], (1, 2), False),
        ([1, [2]], [[1], 2], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({1: "x"}, {1: "y"}, False),
        (["ab", "c"], ["a", "bc"], False),
    ],
)
def test_plain_data_agrees_when_it_is_equal(a: Any, b: Any, expected: bool) -> None:
    assert same(a, b) is expected


def test_an_integer_of_thousands_of_digits_is_no_danger() -> None:
    assert same(10**5000, 10**5000) and not same(10**5000, 10**5000 + 1)


def test_a_lone_surrogate_is_no_danger() -> None:
    assert same("\ud800", "\ud800") and not same("\ud800", "\ud801")


def test_tensors_in_a_tuple_are_compared_one_by_one() -> None:
    x, y = drawn(3, 4), drawn(3, 4, seed=1)
    assert same((x, y), (x * (1 + 1e-6), y))
    assert not same((x, y), (y, x))
    assert not same((x, y), [x, y])


def test_tensors_in_a_dict_are_compared() -> None:
    assert same({"a": drawn(3)}, {"a": drawn(3)})
    assert not same({"a": drawn(3)}, {"a": drawn(3, seed=1)})


@pytest.mark.parametrize(
    "value",
    [
        torch.zeros(3, 0),
        torch.tensor(1.5),
        torch.randn(3, dtype=torch.complex64),
        torch.full((3,), 1e308, dtype=torch.float64),
        torch.full((3,), 1e39, dtype=torch.float64),
        torch.randn(3).requires_grad_(),
        torch.randn(4, 4).T,
        torch.zeros(3).to(torch.uint8),
        numpy.zeros((2, 0)),
        numpy.array(["text"]),
        object(),
        float("nan"),
    ],
)
def test_any_value_has_a_fingerprint_that_agrees_with_itself(value: Any) -> None:
    assert same(value, value)


def test_a_deeply_nested_list_is_no_danger() -> None:
    nested: list[Any] = []
    for _ in range(5000):
        nested = [nested]
    assert same(nested, nested)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (drawn(3, 4), True),
        (torch.zeros(3, 4), False),
        (torch.ones(3, 4), False),
        (torch.full((3, 4), 0.25), False),
        (torch.full((3, 4), math.nan), False),
        (torch.eye(4), False),
        (torch.ones(3, 4).tril().bool(), True),
        (torch.ones(2, 2).tril().bool(), False),
        (torch.ones(3, 4).bool(), False),
        (None, False),
        (True, False),
        ([104, 101, 108, 108, 111], True),
    ],
)
def test_a_value_that_many_things_give_is_not_telling(value: Any, expected: bool) -> None:
    assert fingerprint(value).telling is expected


@given(st.integers(1, 2_000_000))
def test_a_fingerprint_is_small_whatever_it_is_of(size: int) -> None:
    assert len(msgspec.msgpack.encode(fingerprint(torch.zeros(1).expand(min(size, 100_000))))) < 500


def test_it_survives_being_written_and_read() -> None:
    for value in (drawn(5, 7), "text", (drawn(2), 3)):
        mark = fingerprint(value)
        assert msgspec.msgpack.decode(msgspec.msgpack.encode(mark), type=type(mark)) == mark


@pytest.mark.parametrize("number", [math.nan, 2.5, 3])
def test_of_terabytes_some_entries_are_looked_at(number: float) -> None:
    huge = torch.tensor([number]).expand(1 << 40)
    assert fingerprint(huge).shape == (1 << 40,)
    assert agree(fingerprint(huge), fingerprint(huge))
