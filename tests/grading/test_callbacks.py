"""Functions of a check's that student code calls: what they are given and give, and every way to misuse them."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.grading import line
from autograder.results import CheckResult
from autograder.testing.callables import in_worker
from tests.running import results_here
from tests.tiny import tiny_assignment

REFERENCE = '''
import torch


def double(f, x):
    """f, applied twice."""
    # BEGIN SOLUTION
    return f(f(x))
    # END SOLUTION


class Counter:
    """Keeps a function."""

    def __init__(self, f):
        # BEGIN SOLUTION
        self.f = f

    def step(self, x):
        return self.f(x)
        # END SOLUTION
'''
HEAD = '''
@number("1.1")
@weight(2)
def test_calls(student, reference):
    """Functions are called"""
'''


def result(folder: Path, body: str, source: str = REFERENCE) -> CheckResult:
    lines = "\n".join(f"    {each}" for each in body.strip().splitlines())
    return results_here(tiny_assignment(folder, HEAD + lines, reference=REFERENCE), source, folder)["1.1"]


def test_student_code_calls_a_function_of_the_check(tmp_path: Path) -> None:
    body = """
seen = []
def f(x):
    seen.append(x)
    return x + 1
assert student.double(student.callback(f), 3) == 5
assert seen == [3, 4]
kept = student.Counter(student.callback(lambda x: 2 * x))
assert torch.equal(kept.step(torch.ones(2)), torch.full((2,), 2.0))
assert reference.double(reference.callback(f), 3) == 5
"""
    assert result(tmp_path, body).outcome == "passed"


def test_what_a_callback_raises_ends_the_check_whatever_student_code_catches(tmp_path: Path) -> None:
    source = "def double(f, x):\n    try:\n        f(x)\n    except BaseException:\n        pass\n    return 5\n"
    found = result(
        tmp_path, "def f(x):\n    assert x == 4, 'not 4'\nassert student.double(student.callback(f), 3) == 5", source
    )
    assert found.outcome == "failed" and found.explanation is not None and "not 4" in found.explanation.got


def test_a_callback_that_asks_student_code_is_a_fault_of_the_check(tmp_path: Path) -> None:
    found = result(tmp_path, "student.double(student.callback(lambda x: student.double(abs, 1)), 3)")
    assert found.outcome == "broken"
    assert found.reason is not None and "a callback asks student code" in str(found.reason)


def test_a_callback_called_too_often_ends_the_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line, "MOST_CALLBACKS", 20)
    source = "def double(f, x):\n    while True:\n        try:\n            x = f(x)\n"
    source += "        except Exception:\n            return 5\n"
    found = result(tmp_path, "assert student.double(student.callback(lambda x: x), 3) == 5", source)
    assert type(found.reason).__name__ == "CalledBackTooMuch" and found.score == 0


def test_a_callback_with_too_many_bytes_ends_the_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line, "MOST_CALLED_BACK", 1000)
    found = result(tmp_path, "student.double(student.callback(lambda x: torch.zeros(300)), 3)")
    assert type(found.reason).__name__ == "CalledBackTooMuch"


def test_a_callback_is_given_data_only(tmp_path: Path) -> None:
    source = "def double(f, x):\n    return f(object())\n"
    found = result(tmp_path, "student.double(student.callback(lambda x: x), 3)", source)
    assert "this function takes data, not a object" in str(found.reason)


def test_no_callback_where_memory_is_weighed(tmp_path: Path) -> None:
    found = result(tmp_path, "f = student.callback(abs)\nwith student.weighing():\n    student.double(f, 3)")
    assert found.outcome == "broken" and "can have no callbacks" in str(found.reason)


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ("lambda x: x", "student.callback"),
        ("object()", "pass data"),
        ("[1, {'a': object()}]", "[1]['a']"),
        ("torch.ones(2).to_sparse()", "no dense tensor"),
        ("student.callback(abs), reference.Counter(1)", "each have their own"),
    ],
)
def test_what_cannot_cross_is_one_sentence_for_the_author(tmp_path: Path, argument: str, says: str) -> None:
    found = result(
        tmp_path, f"student.double({argument}, 1)" if "reference" not in argument else f"student.double({argument})"
    )
    assert found.outcome == "broken" and says in str(found.reason)


def test_a_function_of_support_is_sent_as_source_and_differentiated(tmp_path: Path) -> None:
    support = tmp_path / "assignments" / "tiny" / "checks" / "support"
    assignment = tiny_assignment(
        tmp_path,
        HEAD
        + "    from support.functions import cube\n"
        + "    x = torch.tensor([2.0])\n"
        + "    assert student.vjp(student.double, [cube, x], [torch.ones(1)]).args[1].tolist() == [9 * 2.0**8]\n"
        + "    assert cube(2) == 8",
        reference=REFERENCE,
    )
    support.mkdir()
    (support / "__init__.py").write_text("")
    (support / "functions.py").write_text(
        "from autograder.testing.callables import in_worker\n\n@in_worker\ndef cube(x):\n    return x**3\n"
    )
    assert results_here(assignment, REFERENCE, tmp_path)["1.1"].outcome == "passed"


def test_only_functions_that_students_have_are_sent_as_source() -> None:
    with pytest.raises(ValueError, match="define it in checks/support/"):

        @in_worker
        def hidden(x: int) -> int:
            return x
