"""What `validate --suggest` proposes of a tiny assignment, and that what is accepted is a mistake like any other."""

from __future__ import annotations

import pytest

from autograder.commands.suggest import suggestions_for, take_over
from autograder.commands.validate import prove
from autograder.errors import SoftmarkError
from tests.tiny import tiny_assignment

REFERENCE = """
import torch


def double(x, more=0):
    # BEGIN SOLUTION
    y = torch.abs(x) * 2 + more
    return y.clone()
    # END SOLUTION


class Counter:
    pass
"""
CHECK = """
@number("1.1")
@weight(2)
def test_doubles(student, reference, cases):
    \"\"\"Doubling gives twice the size\"\"\"
    x = cases.tensor(3)
    got = student.double(x)
    compared(got, reference.double(x), "double")
    assert torch.equal(got, reference.double(x)), "not twice the size"
"""


@pytest.fixture
def assignment(tmp_path):
    checks = "from autograder.testing.mismatch import compared\n" + CHECK
    return tiny_assignment(tmp_path, checks, reference=REFERENCE)


def write(assignment, name, code):
    folder = assignment.solutions / "mistakes" / "numbers_part"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text(f'"""A sentence."""\nCAUGHT_BY = ["1.1"]\n\n{code}')


def test_it_proposes_what_is_noticed_and_new_and_lists_what_is_not_noticed(assignment, session):
    write(assignment, "halves", "def double(x, more=0):\n    return torch.abs(x) / 2\n")
    prove(assignment, session, 1)
    found = suggestions_for(assignment, session, 1)
    names = {each.name for each in found.suggestions}
    assert names == {"double_3_for_2", "double_not_multiplied", "double_without_abs"}
    after = {each.after for each in found.unnoticed}
    assert after == {"y = (torch.abs(x) * 2) - more", "y = (torch.abs(x) * 2)", "return y"}
    assert found.alike > 0 and found.silent > 0
    assert found.tried == found.possible == len(names) + len(found.unnoticed) + found.alike + found.silent


def test_what_is_accepted_is_a_mistake_of_the_bank(assignment, session):
    names = ["double_3_for_2", "double_not_added"]
    ((path, sentence),), left = _items(take_over(assignment, session, 1, names))
    assert (path.name, sentence) == ("double_3_for_2.py", "In `double`, a number is too large by one.")
    assert left == ["double_not_added"]
    report = prove(assignment, session, 1)
    assert (report.shortfalls, report.caught) == ((), 1)
    assert take_over(assignment, session, 1, names[:1]) == ({}, names[:1])


def _items(taken):
    written, left = taken
    return written.items(), left


def test_a_name_that_is_no_change_is_told_with_the_nearest(assignment, session):
    with pytest.raises(SoftmarkError, match="did you mean double_3_for_2"):
        suggestions_for(assignment, session, 1, ["double_3_for_3"])


def test_a_reference_that_fails_its_checks_is_no_ground_to_stand_on(tmp_path, session):
    checks = CHECK.replace("compared(got", "assert False, (got")
    with pytest.raises(SoftmarkError, match=r"fails check 1\.1"):
        suggestions_for(tiny_assignment(tmp_path, checks, reference=REFERENCE), session, 1)
