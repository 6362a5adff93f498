"""Where nobody keeps a safe account of the kernel's, a check of memory says so: to staff, and to the student."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.grading.plugin import Usage
from autograder.report.view import notes_for_students
from autograder.sandbox.account import Account
from autograder.worker.protocol.messages import Found, Reply, Request, Returned
from tests.running import grade_here
from tests.tiny import REFERENCE, tiny_assignment

CHECK = """
from autograder.testing.memory import weigh

@number("1.1")
@weight(2)
def test_doubles(student, cases):
    \"\"\"Doubling takes little memory\"\"\"
    x = cases.tensor(3)
    assert torch.equal(weigh(student, lambda: student.double(x), 8, "double"), 2 * x), "not twice the number"
"""


class Weighed:
    """A subject that answers right, with an account (or none) of a test's own."""

    def __init__(self, account: Account | None) -> None:
        self._account = account

    def request(self, message: Request) -> Reply:
        return Found("function")

    def weigh(self, message) -> tuple[Reply, Account | None]:
        return Returned(2 * message.args[0]), self._account

    def expect(self, more: bool) -> None:
        pass

    def open(self, check, seconds):
        return self

    def close(self) -> None:
        pass

    def usage(self) -> Usage:
        return Usage()


@pytest.mark.parametrize(
    ("account", "why"),
    [(None, "nobody keeps it here"), (Account(1 << 20, 0, False, guarded=False), "student code can forge it here")],
)
def test_a_check_that_the_model_alone_judged_says_so(tmp_path: Path, account: Account | None, why: str) -> None:
    grade = grade_here(tiny_assignment(tmp_path, CHECK), REFERENCE, tmp_path, subject=Weighed(account))
    [check] = grade.checks
    assert check.outcome == "passed"
    assert why in check.unweighed
    [note] = notes_for_students(grade)
    assert note.startswith("In 1.1 memory is judged by the allocation model alone")


def test_with_a_safe_account_nothing_is_said(tmp_path: Path) -> None:
    grade = grade_here(
        tiny_assignment(tmp_path, CHECK), REFERENCE, tmp_path, subject=Weighed(Account(1 << 20, 0, False))
    )
    assert notes_for_students(grade) == ()
    assert grade.checks[0].unweighed == ""


def test_an_account_that_can_be_forged_still_costs_points(tmp_path: Path) -> None:
    heavy = Weighed(Account(9 << 20, 0, False, guarded=False))
    grade = grade_here(tiny_assignment(tmp_path, CHECK), REFERENCE, tmp_path, subject=heavy)
    assert grade.points == 0
