"""The reference's answers on record: given again to the same questions, and to no others."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from autograder.grading.in_place import InThisProcess
from autograder.grading.plugin import Checks
from autograder.grading.pytest_session import with_checks
from autograder.grading.recording import NotRecorded, Recording, recorded
from autograder.grading.verdict import examine, result
from autograder.results import CheckResult
from autograder.sandbox.in_process import InProcessWorker
from autograder.testing.cases import Cases
from autograder.worker.protocol.messages import Call, Look, Returned, Target
from tests.tiny import tiny_assignment

ASKS = """
@number("1.1a")
@weight(2)
def test_doubles(student, reference, cases):
    \"\"\"Doubling gives twice the number\"\"\"
    for n in (2, 3):
        x = cases.tensor(n)
        assert torch.equal(student.double(x), reference.double(x))
"""
ASKS_ABOUT_THE_STUDENTS = """
@number("1.1a")
@weight(2)
def test_doubles_twice(student, reference, cases):
    \"\"\"Doubling twice gives four times the number\"\"\"
    once = student.double(cases.tensor(3))
    assert torch.equal(student.double(once), reference.double(once))
"""
COUNTS = """
@number("1.1a")
@weight(2)
def test_counts(student, reference):
    \"\"\"A counter counts\"\"\"
    ours, theirs = reference.Counter(), student.Counter()
    for _ in range(3):
        assert theirs.add(2) == ours.add(2)
"""
CLASSES = """
class Counter:
    def __init__(self):
        self.n = 0
    def add(self, k):
        self.n += k
        return self.n
"""
RIGHT = "import torch\ndef double(x):\n    return 2 * x\n" + CLASSES


def at_home(tmp_path: Path, check: str, source: str) -> CheckResult:
    """The result of the one check on `source`, with recorded answers in the reference's place."""
    assignment = tiny_assignment(tmp_path, check, reference=RIGHT)
    answers = recorded(assignment)
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "numbers_part.py").write_text(source)
    checks = Checks(assignment, Recording(answers), visible_only=True)
    found: list[CheckResult] = []

    def work() -> None:
        subject = InThisProcess(InProcessWorker(folder, ["numbers_part"]))
        found.append(result(examine(checks, checks.checks[0], subject, None)))

    with_checks(checks, work)
    return found[0]


def test_a_right_solution_passes_and_a_wrong_one_is_shown_its_numbers(tmp_path: Path) -> None:
    assert at_home(tmp_path, ASKS, RIGHT).outcome == "passed"


def test_a_wrong_solution_fails_without_the_reference(tmp_path: Path) -> None:
    assert at_home(tmp_path, ASKS, RIGHT.replace("2 * x", "3 * x")).outcome == "failed"


def test_the_same_question_is_answered_in_the_order_of_the_recording(tmp_path: Path) -> None:
    assert at_home(tmp_path, COUNTS, RIGHT).outcome == "passed"


def test_a_question_about_a_value_of_the_students_is_named(tmp_path: Path) -> None:
    found = at_home(tmp_path, ASKS_ABOUT_THE_STUDENTS, RIGHT.replace("2 * x", "3 * x"))
    assert found.outcome == "broken" and "asks the reference for double with values that are not on record" in str(
        found.reason
    )


def test_numbers_that_another_processor_rounds_otherwise_are_the_same_question(tmp_path: Path) -> None:
    replay = Recording(recorded(tiny_assignment(tmp_path, ASKS, reference=RIGHT))).open("numbers_part.test_doubles")
    drawn = Cases(b"tiny-visible", "numbers_part.test_doubles").tensor(2)
    replay.request(Look(Target("double", "numbers_part")))
    reply = replay.request(Call(Target("double", "numbers_part"), (drawn * (1 + 1e-7),)))
    assert isinstance(reply, Returned) and torch.allclose(reply.value, 2 * drawn)
    with pytest.raises(NotRecorded):
        replay.request(Call(Target("double", "numbers_part"), (drawn + 1,)))


def test_the_same_answers_are_the_same_bytes(tmp_path: Path) -> None:
    assignment = tiny_assignment(tmp_path, ASKS, reference=RIGHT)
    assert recorded(assignment) == recorded(assignment)
