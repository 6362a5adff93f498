"""Trivial answers know nothing of classes with operators, of what is lazy, and of what methods change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from autograder.assignment.assignment import Assignment
from autograder.assignment.manifest import Part
from autograder.assignment.trivial_answers import KINDS, trivial_source
from autograder.authoring.proof.candidates import Candidate
from autograder.authoring.proof.expectations import judge
from autograder.results import CheckResult, Grade
from tests.tiny import tiny_assignment

SOURCE = """
class Value:
    def __init__(self, data):
        self.data, self.grad = data, 0.0
    def __add__(self, other):
        return Value(self.data + other.data)
    def __lt__(self, other):
        return self.data < other.data
    def __len__(self):
        return 7
    def backward(self):
        self.grad = 1.0

def numbers(n):
    for i in range(n):
        yield i + 1.0

def made(x):
    return Value(x)
"""
PART = Part(name="part", number=1, title="Part", points=1, functions=("Value", "numbers", "made"))


@pytest.fixture(params=KINDS)
def names(request: pytest.FixtureRequest) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "part"}
    exec(compile(trivial_source(SOURCE, PART, request.param), "part", "exec"), names)
    return names


def test_operators_give_objects_that_know_nothing(names: dict[str, Any]) -> None:
    a, b = names["Value"](3.0), names["Value"](4.0)
    assert (a + b).data == 0.0
    assert (a < b) is False
    assert len(a) == 0
    assert names["made"](3.0).data == 0.0


def test_a_method_changes_nothing(names: dict[str, Any]) -> None:
    a = names["Value"](3.0)
    a.backward()
    assert (a.data, a.grad) == (3.0, 0.0)


def test_a_generator_stays_lazy_and_knows_nothing(names: dict[str, Any]) -> None:
    items = names["numbers"](1 << 60)
    assert [next(items), next(items)] == [0.0, 0.0]


def test_a_manifest_names_checks_that_nothing_may_earn(tmp_path: Path) -> None:
    assignment = tiny_assignment(tmp_path)
    check = CheckResult(
        number="1.1", name="test_x", part="numbers_part", title="", weight=2.0, score=2.0, outcome="passed"
    )
    grade = Grade(submission="t", assignment="tiny", status="graded", points=2, maximum=2, checks=(check,))

    def found(assignment: Assignment) -> list[str]:
        report = judge(assignment, [Candidate("t", "trivial", {})], {"t": grade})
        return [each.sentence for each in report.shortfalls]

    assert found(assignment) == ["must earn nothing, but check 1.1 (test_x) gave it 2 of 2"]
    assert found(msgspec.structs.replace(assignment, earned_by_nothing={"1.1": "handed-in weights"})) == []
