"""Check files import what their assignment's checks share, and nothing of it stays for the next assignment."""

from __future__ import annotations

import sys

import pytest

from autograder.errors import SoftmarkError
from autograder.grading.plugin import Checks
from autograder.grading.pytest_session import with_checks
from tests.tiny import tiny_assignment

VISIBLE = """
from support.words import GREETING, greet

@number("1.1")
@weight(2)
def test_greets(student):
    \"\"\"It greets\"\"\"

test_greets.__doc__ = GREETING
"""
HIDDEN = """
from hidden.support.secrets import SECRET

@number("1.2")
@weight(0)
@visibility("hidden")
def test_keeps_a_secret(student):
    \"\"\"It keeps a secret\"\"\"

test_keeps_a_secret.__doc__ = SECRET
"""


def assignment_that_says(folder, greeting):
    assignment = tiny_assignment(folder, VISIBLE, HIDDEN)
    hidden = assignment.hidden / "support"
    for each in (assignment.support, hidden):
        each.mkdir()
    (assignment.support / "languages.py").write_text(f"GREETING = {greeting!r}\n")
    (assignment.support / "words.py").write_text("from support.languages import GREETING\n\ndef greet(): ...\n")
    (hidden / "secrets.py").write_text(
        f"from support.languages import GREETING\nSECRET = GREETING + ', hidden {greeting}'\n"
    )
    return assignment


def titles(assignment):
    checks = Checks(assignment, {})
    with_checks(checks, lambda: None)
    return [check.title for check in checks.checks]


def test_two_assignments_with_a_module_of_one_name_do_not_mix(tmp_path):
    english, german = assignment_that_says(tmp_path / "a", "hello"), assignment_that_says(tmp_path / "b", "hallo")
    for _ in range(2):
        assert titles(english) == ["hello", "hello, hidden hello"]
        assert titles(german) == ["hallo", "hallo, hidden hallo"]


def test_what_was_imported_before_comes_back_and_what_checks_imported_goes(tmp_path, monkeypatch):
    of_somebody_else = object()
    monkeypatch.setitem(sys.modules, "support.words", of_somebody_else)
    assert titles(assignment_that_says(tmp_path, "hello"))[0] == "hello"
    assert sys.modules["support.words"] is of_somebody_else
    assert "support.languages" not in sys.modules


def test_a_support_module_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SoftmarkError, match=r"No module named 'support\.words'"):
        titles(tiny_assignment(tmp_path, VISIBLE))
