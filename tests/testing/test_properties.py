"""Symmetry, causality, purity and exceptions: each is shown a function that has the property and one that has not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import Tensor

from autograder.testing.causality import assert_blind, assert_no_gradient_from_hidden
from autograder.testing.exceptions import must_raise
from autograder.testing.mismatch import Mismatch
from autograder.testing.purity import assert_pure
from autograder.testing.symmetry import assert_equivariant, assert_invariant

CAUSAL = torch.tensor([[True, False, False], [True, True, False], [True, True, True]])
ORDER = torch.tensor([2, 0, 1])


def averages(values: Tensor, allowed: Tensor = CAUSAL) -> Tensor:
    """Each query's mean of the values that it may see: attention without scores."""
    weights = allowed.to(values.dtype)
    return weights / weights.sum(-1, keepdim=True) @ values


# ------------------------------------------------------------------ symmetry


def test_an_unchanged_result_is_invariant() -> None:
    before = torch.rand(2, 3)
    assert_invariant(before, before + 1e-7, "out", under="adding nothing", within=1e-6)


def test_a_changed_result_is_told_with_what_was_done() -> None:
    with pytest.raises(Mismatch) as raised:
        assert_invariant(torch.zeros(3), torch.ones(3), "out", under="adding a vector to every key", within=1e-6)
    assert raised.value.what == "out after adding a vector to every key"
    assert raised.value.hint == "adding a vector to every key should change nothing"


def test_nan_is_not_invariant() -> None:
    with pytest.raises(Mismatch):
        assert_invariant(torch.zeros(3), torch.full((3,), torch.nan), "out", under="anything", within=1.0)


def test_a_permuted_result_is_equivariant_and_an_unpermuted_one_is_not() -> None:
    before = torch.arange(6.0).reshape(3, 2)
    assert_equivariant(before, before[ORDER], ORDER, 0, "out", under="another order", within=0.0)
    for wrong in (before, before[torch.argsort(ORDER)]):
        with pytest.raises(Mismatch, match="should put out in that order"):
            assert_equivariant(before, wrong, ORDER, 0, "out", under="another order", within=0.0)


# ------------------------------------------------------------------ causality


def test_a_causal_average_is_blind_to_what_comes_later() -> None:
    values = torch.rand(3, 2)
    changed = torch.tensor([False, False, True])
    other = torch.where(changed[:, None], values + 1.0, values)
    assert_blind(averages(values), averages(other), CAUSAL, changed, "out", within=1e-6)


def test_a_query_that_sees_the_future_is_named() -> None:
    values = torch.rand(3, 2)
    changed = torch.tensor([False, False, True])
    other = torch.where(changed[:, None], values + 1.0, values)
    everyone = torch.ones(3, 3, dtype=torch.bool)
    with pytest.raises(Mismatch, match=r"out of queries 0, 1: .*only keys it may not attend to \(2\)"):
        assert_blind(averages(values, everyone), averages(other, everyone), CAUSAL, changed, "out", within=1e-6)


def test_a_query_that_misses_what_it_may_see_is_named() -> None:
    values = torch.rand(3, 2)
    changed = torch.tensor([False, True, True])
    other = torch.where(changed[:, None], values + 1.0, values)
    nobody = torch.tensor([[True, False, False]] * 3)
    with pytest.raises(Mismatch, match=r"out of queries 1, 2: .*hides keys that may be seen"):
        assert_blind(averages(values, nobody), averages(other, nobody), CAUSAL, changed, "out", within=1e-6)


def gradient_of_row(query: int, allowed: Tensor) -> Tensor:
    values = torch.rand(3, 2, dtype=torch.float64, requires_grad=True)
    averages(values, allowed)[query].sum().backward()
    assert values.grad is not None
    return values.grad


def test_a_gradient_reaches_seen_values_only() -> None:
    assert_no_gradient_from_hidden(gradient_of_row(1, CAUSAL), CAUSAL, 1, "v")


def test_what_is_left_by_rounding_is_no_leak() -> None:
    rounded = gradient_of_row(1, CAUSAL)
    rounded[2] = 1e-7
    assert_no_gradient_from_hidden(rounded, CAUSAL, 1, "v")


def test_a_gradient_that_leaks_names_the_key() -> None:
    leaking = gradient_of_row(1, torch.ones(3, 3, dtype=torch.bool))
    with pytest.raises(Mismatch, match="query 1 may not attend to key 2"):
        assert_no_gradient_from_hidden(leaking, CAUSAL, 1, "v")


@pytest.mark.parametrize("got", [None, torch.zeros(3, 2), torch.full((3, 2), torch.nan), "zeros"])
def test_no_gradient_at_all_is_no_causality(got: Any) -> None:
    with pytest.raises(Mismatch):
        assert_no_gradient_from_hidden(got, CAUSAL, 1, "v")


# ------------------------------------------------------------------ purity


@dataclass
class Seen:
    """What `student.observe` gives."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict[str, Any])
    changed: tuple[str, ...] = ()
    value: Any = None


def test_arguments_as_they_were_are_pure_nan_included() -> None:
    x = torch.tensor([1.0, torch.nan, -torch.inf])
    assert_pure(Seen(args=(x.clone(), 1), kwargs={"mask": None}), (x, 1), {"mask": None})


def test_an_argument_that_changed_is_named_and_shown() -> None:
    x = torch.tensor([1.0, 2.0])
    with pytest.raises(Mismatch) as raised:
        assert_pure(Seen(args=(x, torch.tensor([1.0, 3.0]))), (x, x))
    assert raised.value.what == "argument 2 after the call"
    assert raised.value.expected == "argument 2[:] = 1, 2"
    assert "in-place" in raised.value.hint


@pytest.mark.parametrize("after", [None, torch.ones(1, 2), torch.ones(2, dtype=torch.float64)])
def test_an_argument_of_another_shape_or_dtype_has_changed(after: Any) -> None:
    with pytest.raises(Mismatch):
        assert_pure(Seen(kwargs={"x": after}), (), {"x": torch.ones(2)})


@pytest.mark.parametrize(
    ("before", "after"),
    [(["b", "a"], ["a", "b"]), ({2: b"b", 1: b"a"}, {1: b"a", 2: b"b"}), (("a",), ("b",)), ([1], [1, 2]), ([1], (1,))],
)
def test_a_list_or_dict_whose_items_changed_has_changed(before: Any, after: Any) -> None:
    assert_pure(Seen(args=(before,)), (before,))
    with pytest.raises(Mismatch, match="argument 1"):
        assert_pure(Seen(args=(after,)), (before,))


def test_a_global_state_that_changed_is_named() -> None:
    with pytest.raises(Mismatch, match="torch random state changed"):
        assert_pure(Seen(changed=("torch random state",)), ())


# ------------------------------------------------------------------ exceptions


def raising(error: Exception) -> Any:
    def call(*_args: Any) -> None:
        raise error

    return call


class OddWidth(ValueError):
    """A student's own exception."""


@pytest.mark.parametrize("error", [ValueError("odd"), OddWidth("odd")])
def test_the_stated_type_and_its_subclasses_count(error: Exception) -> None:
    must_raise(ValueError, raising(error), 3, because="3 is odd")


def test_returning_something_does_not_count() -> None:
    with pytest.raises(Mismatch, match="expected ValueError, because 3 is odd, got no error but 7"):
        must_raise(ValueError, lambda _n: 7, 3, because="3 is odd")


@pytest.mark.parametrize("error", [TypeError("t"), RuntimeError("r"), KeyError("k"), ZeroDivisionError()])
def test_another_type_does_not_count_and_is_named(error: Exception) -> None:
    with pytest.raises(Mismatch) as raised:
        must_raise(ValueError, raising(error), because="3 is odd")
    assert raised.value.got == type(error).__name__


def test_not_implemented_never_counts_not_even_where_a_runtime_error_is_asked_for() -> None:
    with pytest.raises(NotImplementedError):
        must_raise(RuntimeError, raising(NotImplementedError()), because="it must")
