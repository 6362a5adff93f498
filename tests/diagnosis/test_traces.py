"""What a check saw, and how it ended, in words that do not depend on rounding."""

import pytest
import torch

from autograder.diagnosis.traces import CheckTrace, ItemTrace, trace_item
from autograder.results import AnsweredWrongly, DeadlinePassed, NotImplementedYet, Raised, Reason, TimedOut
from autograder.student_error import StudentError
from autograder.testing.mismatch import Mismatch
from tests.diagnosis.traces_of import Comparison, drawn


def raised(message: str) -> StudentError:
    return StudentError(Raised(kinds=("RuntimeError",), message=message))


SEEN = [Comparison("weights", drawn(3, 4)), Comparison("out", drawn(3, 5))]


def test_an_item_that_passed_costs_nothing_unless_all_is_kept() -> None:
    assert trace_item(SEEN, None) == ItemTrace()
    assert len(trace_item(SEEN, None, keep_all=True).values) == 2


def test_a_mismatch_is_about_the_value_compared_last() -> None:
    trace = trace_item(SEEN, Mismatch("out", "out[0] = 1", "out[0] = 2"))
    assert trace.by_value and len(trace.values) == 2


def test_a_mismatch_with_a_longer_name_is_about_that_value_too() -> None:
    assert trace_item(SEEN, Mismatch("out after permuting keys", "1", "2")).by_value


def test_a_mismatch_about_something_else_is_not_about_a_value() -> None:
    assert not trace_item(SEEN, Mismatch("global state", "nothing changed", "torch random state changed")).by_value


def test_numbers_in_a_mismatch_do_not_matter_to_its_ending() -> None:
    a = trace_item(SEEN, Mismatch("out", "", "out[0, :] = 0.1234, 0.5 (error 0.1, rounding allows 1e-06)"))
    b = trace_item(SEEN, Mismatch("out", "", "out[1, 2:4] = 0.1235, nan (error 0.2, rounding allows 2e-06)"))
    assert a.ending == b.ending


def test_what_came_instead_of_an_exception_matters() -> None:
    a = trace_item([], Mismatch("error", "ValueError", "no error but a float32 tensor of shape (2, 3)"))
    b = trace_item([], Mismatch("error", "ValueError", "IndexError"))
    c = trace_item([], Mismatch("error", "ValueError", "no error but a float32 tensor of shape (4, 5)"))
    assert a.ending != b.ending and a.ending == c.ending


def test_an_exception_is_its_kind_and_its_message_without_addresses_and_fractions() -> None:
    a = trace_item(SEEN, raised("size 3 at 0x7f12, loss 0.123"))
    b = trace_item(SEEN, raised("size 3 at 0x7fab, loss 0.124"))
    c = trace_item(SEEN, raised("size 4 at 0x7fab, loss 0.124"))
    assert a.ending == b.ending != c.ending
    assert not a.by_value


def test_a_crash_and_a_time_out_are_told_apart() -> None:
    crashed = trace_item([], StudentError(AnsweredWrongly())).ending
    timed_out = trace_item([], StudentError(TimedOut(of="cpu", seconds=10))).ending
    assert (crashed, timed_out) == ("crashed", "timed_out")


@pytest.mark.parametrize("reason", [DeadlinePassed(seconds=540), NotImplementedYet(function="softmax")])
def test_what_was_not_run_or_not_written_tells_nothing(reason: Reason) -> None:
    trace = CheckTrace("2.1", (ItemTrace(), trace_item([], StudentError(reason))))
    assert not trace.tells and trace.fails


def test_any_other_error_is_its_type() -> None:
    assert trace_item(SEEN, TypeError("cannot unpack")).ending == "error TypeError"


def test_a_plain_assertion_is_taken_to_be_about_the_last_value() -> None:
    trace = trace_item([Comparison("n", torch.ones(2))], AssertionError("assert 3 == 4\nmore"))
    assert trace.by_value and trace.ending == "assertion assert # == #"
