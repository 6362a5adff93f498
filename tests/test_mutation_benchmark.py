"""The list of changes that are no mistakes belongs to the reference as it is, and the benchmark counts rightly."""

from __future__ import annotations

from collections import Counter

import pytest

from autograder.assignment.assignment import load_assignment
from autograder.authoring.mutation.mutants import mutants_of
from benchmarks.mutation import ROOT, Result, equivalents, rows, stale

ASSIGNMENT = load_assignment(ROOT / "assignments" / "08_transformers")


@pytest.fixture(scope="module")
def mutants():
    sources = {part.name: ASSIGNMENT.reference(part).read_text(encoding="utf-8") for part in ASSIGNMENT.parts}
    return [mutant for name, source in sources.items() for mutant in mutants_of(name, source)]


def test_every_change_that_is_no_mistake_is_one_of_the_reference_and_has_a_reason(mutants):
    known = list(equivalents().values())
    assert [f"{each.part} {each.where}: {each.after}" for each in stale(known, mutants)] == []
    assert all(len(each.reason.split()) > 3 for each in known)


def test_several_hundred_changes_over_all_parts_are_there_to_be_tried(mutants):
    assert min(Counter(each.part for each in mutants).values()) >= 100


def test_the_rate_is_that_of_the_changes_that_are_mistakes(mutants):
    known = set(equivalents())
    harmless = next(each for each in mutants if each.identity in known)
    survivor = next(each for each in mutants if each.identity not in known and each.part == harmless.part)
    both = Result(harmless.part, 10, (harmless, survivor), (), {}, 1.0)
    fine = Result(harmless.part, 5, (harmless,), (), {}, 1.0)
    bad, good, total = rows([both, fine], known)
    assert (bad.figure, bad.holds) == ("8/9 noticed (88.9 %)", False)
    assert (good.figure, good.holds) == ("4/4 noticed (100.0 %)", True)
    assert total.figure == "12/13 noticed (92.3 %)"
