"""The known mistake is named, or nothing: never another one."""

import math
from collections.abc import Sequence

import msgspec
import pytest
import torch

from autograder.diagnosis.diagnosis import Diagnosis, in_words, with_causes
from autograder.diagnosis.mistake_bank import Bank, BankWriter
from autograder.diagnosis.traces import CheckTrace, ItemTrace
from tests.diagnosis.traces_of import MISTAKES, Function, bank, run, scores
from tests.report.grades import EXPLANATION, check, passed


def named(code: dict[str, Function], known: Bank | None = None, only: Sequence[str] = ()) -> dict[str, tuple[str, ...]]:
    """The mistakes named for each check."""
    diagnosis = Diagnosis(bank() if known is None else known)
    traces = run(code, only=only)
    for trace in traces:
        diagnosis.see(trace)
    return {trace.number: diagnosis.names(trace.number) for trace in traces}


TOLD_APART = ["no_shift", "axis_zero", "no_scale", "transposed"]


@pytest.mark.parametrize("name", TOLD_APART)
def test_a_mistake_of_the_bank_is_named_in_every_check_that_it_fails_and_nothing_else_is(name: str) -> None:
    found = named(MISTAKES[name][1])
    failed = [trace.number for trace in run(MISTAKES[name][1]) if trace.items[0].ending]
    assert failed and found == {number: (name,) if number in failed else () for number in found}


def test_the_same_mistake_written_in_another_way_is_named() -> None:
    def unscaled(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        return torch.stack([torch.stack([(a * b).sum() for b in k]) for a in q])

    assert named({"scores": unscaled}) == {"1.1": (), "1.2": (), "2.1": ("no_scale",), "2.2": ("no_scale",)}


def test_mistakes_that_give_the_same_are_named_together() -> None:
    assert named(MISTAKES["scale_twice"][1])["2.1"] == ("divided_by_d", "scale_twice")


def test_mistakes_in_two_functions_are_both_named() -> None:
    found = named({**MISTAKES["no_scale"][1], **MISTAKES["axis_zero"][1]})
    assert found["1.1"] == ("axis_zero",) and found["2.1"] == ("no_scale",)


def test_right_code_is_told_nothing() -> None:
    assert set(named({}).values()) == {()}


def test_an_unknown_mistake_is_told_nothing() -> None:
    assert set(named({"scores": lambda q, k: scores(q, k) + 1.0}).values()) == {()}


def test_the_references_own_value_counts_as_no_mistake() -> None:
    right = run({}, keep_all=True)
    failing = [
        CheckTrace(t.number, (ItemTrace(t.items[0].values[:1], "mismatch out", True),), t.functions) for t in right
    ]
    made = BankWriter(right)
    made.add("rounds", "A step rounds.", failing)
    diagnosis = Diagnosis(made.bank())
    for trace in failing:
        diagnosis.see(trace)
    assert diagnosis.names("2.1") == ()


def test_a_value_that_fits_in_one_check_and_not_in_another_is_no_proof() -> None:
    def divided_by_four(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        return q @ k.transpose(-2, -1) / 4  # what dividing by d gives where d is 4

    assert set(named({"scores": divided_by_four}).values()) == {()}


def test_code_that_passes_what_a_mistake_fails_has_not_that_mistake() -> None:
    def unscaled_at_first(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        return q @ k.transpose(-2, -1) if q.shape[0] == 3 else scores(q, k)

    assert set(named({"scores": unscaled_at_first}).values()) == {()}


def test_all_nan_is_no_evidence_by_itself() -> None:
    def nan(x: torch.Tensor, dim: int) -> torch.Tensor:
        return x * math.nan

    assert set(named({"softmax": nan}).values()) == {()}


def test_all_nan_is_evidence_where_everything_else_agrees() -> None:
    assert named(MISTAKES["no_shift"][1])["1.2"] == ("no_shift",)


def test_an_exception_is_evidence_only_where_everything_else_agrees() -> None:
    def raises(x: torch.Tensor, dim: int) -> torch.Tensor:
        raise IndexError("Dimension out of range")

    def raises_for_large(x: torch.Tensor, dim: int) -> torch.Tensor:
        if float(x.max()) > 100:
            raise IndexError("Dimension out of range")
        return x.softmax(dim)

    made = BankWriter(run({}, keep_all=True))
    made.add("dim", "The dimension is wrong.", run({"softmax": raises}), "def softmax(): ...")
    known = made.bank()
    assert named({"softmax": raises}, known)["1.2"] == ("dim",)
    assert named({"softmax": raises_for_large}, known)["1.2"] == ()


def test_what_one_function_does_is_no_objection_to_a_mistake_in_another() -> None:
    found = named({**MISTAKES["no_shift"][1], "scores": lambda q, k: scores(q, k) + 1.0})
    assert found["1.2"] == ("no_shift",)


def test_other_checks_that_fail_take_no_cause_away() -> None:
    known = bank()
    failing = run(MISTAKES["no_scale"][1])
    for more in (["2.3"], ["2.3", "2.4", "2.5"]):
        diagnosis = Diagnosis(known)
        for trace in [*failing, *(CheckTrace(each, failing[2].items, ("scores",)) for each in more)]:
            diagnosis.see(trace)
        assert diagnosis.names("2.1") == ("no_scale",)


def test_many_numbers_that_agree_in_one_check_only_are_told_as_that() -> None:
    def unscaled_when_wide(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        return q @ k.transpose(-2, -1) if q.shape[-1] == 11 else scores(q, k) + 1.0

    diagnosis = Diagnosis(bank())
    for trace in run({"scores": unscaled_when_wide}):
        diagnosis.see(trace)
    assert diagnosis.cause("2.2") == (
        "In this case your numbers are those of this mistake, in others not: The scale is missing."
    )
    assert diagnosis.cause("2.1") == ""


def test_two_mistakes_in_one_function_are_both_named() -> None:
    def both(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        return MISTAKES["no_scale" if len(q) < 4 else "transposed"][1]["scores"](q, k)

    found = named({"scores": both})
    assert found["2.1"] == ("no_scale",) and found["2.2"] == ("transposed",)


def test_what_was_not_run_is_told_nothing_and_is_no_objection() -> None:
    diagnosis = Diagnosis(bank())
    for trace in run(MISTAKES["no_scale"][1], only=["2.1"]):
        diagnosis.see(trace)
    diagnosis.see(CheckTrace("2.2", (ItemTrace((), "not_run"),), ("scores",)))
    assert diagnosis.names("2.1") == ("no_scale",)
    assert diagnosis.names("2.2") == ()


def test_what_is_missing_is_told_nothing_and_is_no_objection() -> None:
    diagnosis = Diagnosis(bank())
    for trace in run(MISTAKES["no_scale"][1], only=["2.1"]):
        diagnosis.see(trace)
    diagnosis.see(CheckTrace("2.2", (ItemTrace((), "missing"),), ("scores",)))
    assert diagnosis.names("2.1") == ("no_scale",)


def test_a_bonus_that_nobody_has_done_is_no_objection() -> None:
    def without_bonus(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        return q @ k.transpose(-2, -1) if q.shape[1] == 4 else torch.zeros(q.shape[0], k.shape[0])

    traces = run({"scores": without_bonus})
    for bonus, expected in ((False, ()), (True, ("no_scale",))):
        diagnosis = Diagnosis(bank())
        for trace in traces:
            diagnosis.see(CheckTrace(trace.number, trace.items, trace.functions, bonus and trace.number == "2.2"))
        assert diagnosis.names("2.1") == expected


def test_an_empty_bank_says_nothing() -> None:
    assert set(named(MISTAKES["no_scale"][1], Bank()).values()) == {()}


def test_one_sentence_is_said_as_it_stands_and_twice_the_same_once() -> None:
    assert in_words(["The scale is missing."]) == "The scale is missing."
    assert in_words(["The scale is missing.", "The scale is missing."]) == "The scale is missing."


def test_two_or_three_are_alternatives_and_more_are_too_many() -> None:
    assert in_words(["A.", "B."]) == "One of these: (a) A. (b) B."
    assert in_words(["A.", "B.", "C."]) == "One of these: (a) A. (b) B. (c) C."
    assert in_words(["A.", "B.", "C.", "D."]) == ""
    assert in_words([]) == ""


def test_results_get_the_cause_that_the_bank_knows_and_keep_what_the_numbers_told_where_none_is_sure() -> None:
    diagnosis = Diagnosis(bank())
    for trace in run(MISTAKES["no_scale"][1]):
        diagnosis.see(trace)
    told = msgspec.structs.replace(EXPLANATION, cause="Your result is twice the expected one.")
    failed = [msgspec.structs.replace(check(number, hidden=True), explanation=told) for number in ("1.2", "2.1")]
    results = with_causes([passed("1.1"), *failed], diagnosis)
    causes = [result.explanation.cause if result.explanation else None for result in results]
    assert causes == [None, told.cause, "The scale is missing."]
    either = Diagnosis(bank())
    for trace in run(MISTAKES["scale_twice"][1]):
        either.see(trace)
    (result,) = with_causes(failed[1:], either)
    assert result.explanation
    assert (
        result.explanation.cause
        == f"One of these: (a) The root is missing. (b) The scale is applied twice. {told.cause}"
    )
