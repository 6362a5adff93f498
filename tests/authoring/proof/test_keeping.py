"""What is kept of an earlier proof is what a whole one would find; that a mistake is caught is found anew each time."""

from __future__ import annotations

import msgspec
import pytest

from autograder.authoring.proof.evidence import Evidence
from autograder.commands.validate import prove
from autograder.grading.known_mistakes import bank_file
from tests.tiny import ONE_CHECK, REFERENCE, tiny_assignment

CHECKS = (
    ONE_CHECK.replace("weight(2)", "weight(1)")
    + '''
@number("1.2")
@weight(1)
def test_counts(student):
    """A counter counts"""
    assert student.Counter(1).step(2) == 3, "not counted"
'''
)
MISTAKES = {
    "trebles": '"""It trebles."""\nCAUGHT_BY = ["1.1"]\n\ndef double(x):\n    return 3 * x\n',
    "stands_still": '"""It does not count."""\nCAUGHT_BY = ["1.2"]\n\nclass Counter(Counter):\n'
    "    def step(self, by=1):\n        return self.value\n",
}


@pytest.fixture
def assignment(tmp_path):
    made = tiny_assignment(tmp_path, CHECKS)
    for name, text in MISTAKES.items():
        write(made, name, text)
    return made


def write(assignment, name, text):
    folder = assignment.solutions / "mistakes" / "numbers_part"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text(text)


def test_a_second_run_keeps_what_holds_and_finds_what_the_whole_matrix_finds(assignment, session):
    whole = prove(assignment, session, 1, matrix=True)
    bank = bank_file(assignment).read_bytes()
    bank_file(assignment).unlink()
    for kept in (0, 2):
        report = prove(assignment, session, 1)
        assert report == msgspec.structs.replace(whole, kept=kept)
        assert bank_file(assignment).read_bytes() == bank


def test_a_bank_that_says_the_same_is_not_written_again(assignment, session):
    prove(assignment, session, 1, matrix=True)
    before = bank_file(assignment).stat().st_ino
    prove(assignment, session, 1, matrix=True)
    assert bank_file(assignment).stat().st_ino == before
    write(assignment, "trebles", MISTAKES["trebles"].replace("It trebles", "Three times"))
    prove(assignment, session, 1, matrix=True)
    assert bank_file(assignment).stat().st_ino != before


def test_what_the_bank_says_is_not_believed_where_the_killer_gives_something_else(assignment, session, monkeypatch):
    monkeypatch.setattr(Evidence, "of", lambda *_: "a hash that misses every change")
    prove(assignment, session, 1)
    write(assignment, "trebles", MISTAKES["trebles"].replace("3 * x", "2 * x"))
    report = prove(assignment, session, 1)
    assert (report.kept, report.caught) == (1, 1)
    assert [each.candidate for each in report.shortfalls] == ["mistake-numbers_part-trebles"]


def test_a_mistake_that_crashes_elsewhere_is_named_each_time(assignment, session):
    write(
        assignment,
        "dies",
        MISTAKES["stands_still"].replace("        return", "        import os; os._exit(1)\n        return"),
    )
    for _ in range(2):
        (found,) = prove(assignment, session, 1).shortfalls
        assert "CRASHES = True" in found.sentence


def test_the_matrix_names_a_mistake_that_fails_where_it_should_have_no_influence(tmp_path, session):
    reference = REFERENCE.replace("return 2 * x", "return STATE[0] * x").replace(
        "class Counter:", "STATE = [2]\n\n\nclass Counter:\n    def __init_subclass__(cls):\n        STATE[0] = 3\n"
    )
    assignment = tiny_assignment(tmp_path, CHECKS, reference=reference)
    write(assignment, "stands_still", MISTAKES["stands_still"])
    assert prove(assignment, session, 1).shortfalls == ()
    (found,) = prove(assignment, session, 1, matrix=True).shortfalls
    assert found.sentence.startswith("fails check 1.1, though nothing is called there that it defines")
