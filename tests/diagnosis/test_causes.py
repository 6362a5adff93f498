"""The likely cause of one failing item."""

import math
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch

from autograder.diagnosis.causes import likely_cause
from autograder.results import Raised
from autograder.student_error import StudentError
from autograder.testing.mismatch import Mismatch


@dataclass
class Comparison:
    what: str
    got: Any
    expected: Any


@dataclass
class Call:
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict[str, Any])


Q = torch.randn(5, 11, generator=torch.Generator().manual_seed(0))
CALL = Call((Q, Q))
SCORES = Q @ Q.T
COMPARED = Comparison("scores", SCORES, SCORES / math.sqrt(11))
WRONG = Mismatch("scores", "scores[0] = 1", "scores[0] = 3.3")


def test_a_wrong_value_is_hinted_at_with_the_arguments_of_the_call() -> None:
    said = likely_cause(WRONG, [COMPARED], CALL, hidden=False)
    assert said.endswith("3.3166 is the square root of 11, the size of the last axis of argument 1.")


def test_of_a_hidden_check_no_number_is_said() -> None:
    said = likely_cause(WRONG, [COMPARED], CALL, hidden=True)
    assert "the square root of the size of the last axis of argument 1" in said
    assert not any(character.isdigit() and character != "1" for character in said)


def test_a_mismatch_about_something_else_is_not_explained_by_the_value() -> None:
    assert likely_cause(Mismatch("global state", "", ""), [COMPARED], CALL, hidden=False) == ""


def test_what_the_author_of_the_check_says_comes_before_the_numbers() -> None:
    error = Mismatch("scores", "", "", "an in-place operation changes the caller's tensor")
    assert likely_cause(error, [COMPARED], CALL, hidden=False) == "an in-place operation changes the caller's tensor"


def test_of_a_hidden_check_an_author_s_hint_with_numbers_is_not_said() -> None:
    error = Mismatch("scores", "", "", "query 3 may not attend to key 5")
    assert "may not attend" not in likely_cause(error, [COMPARED], CALL, hidden=True)
    assert likely_cause(error, [], CALL, hidden=False) == "query 3 may not attend to key 5"


def test_of_a_hidden_check_without_a_cause_it_is_told_what_is_wrong() -> None:
    shape = Mismatch("codes[0]", "shape (2, 4, 5)", "shape (8, 5)")
    assert likely_cause(shape, [], CALL, hidden=True) == "What is wrong is the shape of codes."
    assert likely_cause(Mismatch("codes", "1", "2"), [], CALL, hidden=True) == "What is wrong is codes."
    assert likely_cause(Mismatch("codes of 0, 7", "1", "2"), [], CALL, hidden=True) == ""


def test_of_nan_both_the_rows_and_the_author_s_hint_are_told() -> None:
    got = SCORES.clone()
    got[1] = math.nan
    error = Mismatch("scores", "finite", "nan", "0 / 0 is NaN")
    said = likely_cause(error, [Comparison("scores", got, SCORES)], CALL, hidden=False)
    assert said == "1 of 5 rows are NaN (1); the others are right. 0 / 0 is NaN"


def test_a_wrong_dtype_is_told_from_what_was_asked() -> None:
    compared = Comparison("scores", SCORES.double(), SCORES.double())
    error = Mismatch("scores", "dtype float32", "dtype float64", dtype=torch.float32)
    assert "their dtype is float64, not float32" in likely_cause(error, [compared], CALL, hidden=False)


def test_an_exception_is_explained_where_it_is_a_common_one() -> None:
    error = StudentError(Raised(kinds=("RecursionError", "RuntimeError"), message="maximum recursion depth exceeded"))
    assert "without an end" in likely_cause(error, [], None, hidden=True)


def test_a_search_for_a_hint_that_fails_is_no_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("autograder.diagnosis.causes.find_hint", fails)
    assert likely_cause(WRONG, [COMPARED], CALL, hidden=False) == ""


def test_without_a_comparison_nothing_is_said() -> None:
    assert likely_cause(WRONG, [], CALL, hidden=False) == ""
    assert likely_cause(AssertionError("assert 1 == 2"), [COMPARED], CALL, hidden=False) == ""
    assert likely_cause(None, [COMPARED], CALL, hidden=False) == ""
