"""Objects of a student's over the boundary: operators, attributes, iteration; and what no object may be taken for."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.grading.recording import Recording, recorded
from autograder.results import CheckResult
from tests.running import results_here
from tests.tiny import tiny_assignment

REFERENCE = '''
import torch
import torch.nn as nn


def double(x):
    """Twice x."""
    # BEGIN SOLUTION
    return Counter(x) if isinstance(x, str) else 2 * x
    # END SOLUTION


def drawn(generator):
    return torch.rand(2, generator=generator)


def first(point):
    return point.x


class Counter:
    """A number that can be added."""

    made = 0

    def __init__(self, value):
        # BEGIN SOLUTION
        self.value, self.inner, self._previous = value, None, None
        self.layers = nn.ModuleList([nn.Linear(2, 3), nn.Linear(3, 1)])
        Counter.made += 1

    @classmethod
    def sum(cls, values):
        return cls(sum(values))

    @staticmethod
    def zero():
        return Counter(0)

    def __add__(self, other):
        return Counter(self.value + (other.value if isinstance(other, Counter) else other))

    __radd__ = __add__

    def __iadd__(self, other):
        self.value += other
        return self

    def __neg__(self):
        return Counter(-self.value)

    def __eq__(self, other):
        return self.value == other.value

    def __hash__(self):
        return self.value

    def __lt__(self, other):
        return self.value < other.value

    def __len__(self):
        return self.value

    def __getitem__(self, index):
        return self.value * index

    def __setitem__(self, index, value):
        self.value = index * value

    def __contains__(self, item):
        return item < self.value

    def __iter__(self):
        for i in range(self.value):
            yield Counter(i)

    def __enter__(self):
        self.value += 100
        return self

    def __exit__(self, *_):
        self.value -= 50
        return True

    def __repr__(self):
        return f"Counter({self.value})"

    def itself(self):
        return self

    def pair(self):
        return [self, Counter(1), 7]

    def apply(self, f, *args):
        return f(*args)
        # END SOLUTION
'''

HEAD = '''
@number("1.1")
@weight(2)
def test_doubles(student, reference):
    """Numbers that can be added"""
    a, b = student.Counter(3), student.Counter(4)
'''


def result(folder: Path, body: str, source: str = REFERENCE) -> CheckResult:
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return results_here(tiny_assignment(folder, HEAD + lines, reference=REFERENCE), source, folder)["1.1"]


@pytest.mark.parametrize(
    "body",
    [
        "assert (a + b).value == 7 and (a + 1).value == 4 and (1 + a).value == 4 and (-a).value == -3",
        "c = a\na += 5\nassert a.value == 8 and a == c",
        "assert a < b and not b < a",
        "assert len(a) == 3 and a[2] == 6 and 2 in a and 9 not in a",
        "a[2] = 5\nassert a.value == 10",
        "a.value = 9\nassert a.value == 9 and (a + 1).value == 10",
        "a.inner = b\nassert a.inner == b and a.inner.value == 4",
        "assert [each.value for each in a] == [0, 1, 2]",
        "stream = iter(a)\nassert next(stream).value == 0 and next(stream).value == 1",
        "with a as inside:\n    assert inside == a and a.value == 103\nassert a.value == 53",
        "assert student.Counter.sum([1, 2]).value == 3 and student.Counter.zero().value == 0",
        "student.Counter.made = 40\nstudent.Counter.zero()\nassert student.Counter.made == 41",
        "assert tuple(a.layers[0].weight.shape) == (3, 2) and len(a.layers) == 2",
        "assert a.itself() == a and hash(a.itself()) == hash(a) and a != b",
        "assert a != student.Counter(3) and student.equal(a, student.Counter(3)) and not student.equal(a, b)",
        "itself, other, number = a.pair()\nassert itself == a and other.value == 1 and number == 7",
        "assert str(a) == 'Counter(3)' and student.repr(b) == 'Counter(4)' and student.hash(b) == 4",
        "assert isinstance(a + b, student.Counter)",
        "assert student.double('one').value == 'one'",
        "assert student.Counter.sum([a, b]).value.value == 7",
        "import math\nassert a.apply(math.hypot, 3.0, 4.0) == 5.0 and a.apply(student.double, 4) == 8",
        "assert torch.equal(a.apply(torch.nn.functional.relu, torch.tensor([-1.0, 2.0])), torch.tensor([0.0, 2.0]))",
        "assert a.apply(sorted, {3, 1}) == [1, 3] and a.apply(set, [1, 1]) == {1}",
        "seeded = torch.Generator().manual_seed(5)\nassert a.apply(torch.randperm, 3).shape == (3,)\n"
        "assert torch.equal(student.drawn(seeded), torch.rand(2, generator=seeded))",
        "from typing import NamedTuple\nassert student.first(NamedTuple('P', [('x', int)])(4)) == 4",
        "import dataclasses\nassert student.first(dataclasses.make_dataclass('P', ['x'])(5)) == 5",
    ],
)
def test_an_object_does_what_it_does_at_home(tmp_path: Path, body: str) -> None:
    assert result(tmp_path, body).outcome == "passed", result(tmp_path / "again", body)


def test_a_with_statement_never_silences_the_check(tmp_path: Path) -> None:
    found = result(tmp_path, "with a:\n    assert a.value == 1, 'not one'")
    assert found.outcome == "failed"


LIAR = """
class Liar:
    def __sub__(self, other): return 0.0
    def __lt__(self, other): return True
    def __call__(self, *args): return True
    def __getattr__(self, name): return self
    def __bool__(self): return True
    def __len__(self): return 7
    def __getitem__(self, index): return self
    def __iter__(self): return iter([self])
    def __abs__(self): return self
"""


@pytest.mark.parametrize(
    "use",
    [
        "assert abs(a.value - 3) < 1",
        "assert a.value.equal(3)",
        "assert a.value[0] < 2",
        "assert len(a.value) == 7",
        "assert a.value",
        "assert abs(student.double(1.0) - 2.0) < 1e-3",
        "assert student.double(1.0).equal(2.0)",
        "assert all(x < 1 for x in student.double(1.0))",
    ],
)
def test_no_object_is_asked_where_the_reference_gives_a_value(tmp_path: Path, use: str) -> None:
    source = f"{LIAR}\ndef double(x):\n    return Liar()\n\nclass Counter:\n    def __init__(self, value):\n"
    source += "        self.value = Liar()\n"
    found = result(tmp_path, use, source)
    assert (found.score, found.outcome) == (0.0, "failed")
    assert found.reason is not None and type(found.reason).__name__ == "ReturnedObject"


def test_an_object_that_nobody_uses_costs_nothing(tmp_path: Path) -> None:
    source = REFERENCE.replace(
        "    def pair(self):", "    def add_to(self):\n        return self\n\n    def pair(self):"
    )
    reference = REFERENCE.replace(
        "    def pair(self):", "    def add_to(self):\n        return None\n\n    def pair(self):"
    )
    assignment = tiny_assignment(tmp_path, HEAD + "    a.add_to()\n    assert a.value == 3", reference=reference)
    assert results_here(assignment, source, tmp_path)["1.1"].outcome == "passed"


def test_answers_about_objects_are_recorded(tmp_path: Path) -> None:
    body = "    c = reference.Counter(3) + reference.Counter(4)\n    assert (a + b).value == c.value"
    assignment = tiny_assignment(tmp_path, HEAD + body, reference=REFERENCE)
    assert Recording(recorded(assignment)).classes("numbers_part") == {"Counter"}


def test_what_testing_pulls_back_is_pulled_back_where_it_lives(tmp_path: Path) -> None:
    body = "    from autograder.testing.gradients import vjp\n"
    body += "    found = vjp(reference.double, [torch.ones(2)], [torch.ones(2)])\n"
    body += "    assert found.args[0].tolist() == [2.0, 2.0]"
    assignment = tiny_assignment(tmp_path, HEAD + body, reference=REFERENCE)
    assert results_here(assignment, REFERENCE, tmp_path)["1.1"].outcome == "passed"
