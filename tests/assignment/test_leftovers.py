"""What an editor leaves in an assignment's folder changes nothing: no grade is stale, nothing is given or packed."""

from __future__ import annotations

from pathlib import Path, PurePath

import pytest

from autograder.assignment.bank import bank
from autograder.assignment.leftovers import is_leftover
from autograder.authoring.starter_code import make_starter
from autograder.gradescope.upload import contents_of
from autograder.grading.known_mistakes import made_from
from autograder.grading.record import assignment_digest
from tests.tiny import tiny_assignment

LEFT = [
    "numbers_part.py~",
    ".numbers_part.py.swp",
    ".numbers_part.py.swo",
    "#numbers_part.py#",
    ".#numbers_part.py",
    "._numbers_part.py",
    "numbers_part.py.orig",
    "numbers_part.py.bak",
    ".DS_Store",
    "__pycache__/numbers_part.cpython-311.pyc",
    ".ipynb_checkpoints/numbers_part-checkpoint.py",
]
MEANT = ["numbers_part.py", "key", "data.csv", ".hidden", "a.b.py", "swap.py", "notes#1.md", "given/original.txt"]


@pytest.mark.parametrize("name", LEFT)
def test_a_leftover_is_one_wherever_it_lies(name: str) -> None:
    assert is_leftover(PurePath(name))
    assert is_leftover(PurePath("mistakes") / name)


@pytest.mark.parametrize("name", MEANT)
def test_what_somebody_meant_is_none(name: str) -> None:
    assert not is_leftover(PurePath(name))


def test_they_make_no_grade_stale_and_are_neither_given_nor_packed_nor_tried(tmp_path: Path) -> None:
    assignment = tiny_assignment(tmp_path)

    def all_of_it() -> tuple[object, ...]:
        packed = contents_of(assignment).files.keys()
        tried = [entry.name for entry in bank(assignment, assignment.parts[0])]
        return assignment_digest(assignment), made_from(assignment), make_starter(assignment), packed, tried

    before = all_of_it()
    for folder in (
        assignment.folder / "given",
        assignment.folder / "checks",
        assignment.solutions,
        assignment.solutions / "mistakes" / "numbers_part",
    ):
        for name in LEFT:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"\xff")
    assert all_of_it() == before
    (assignment.folder / "given" / "data.csv").write_text("1\n")
    assert assignment_digest(assignment) != before[0]
    assert "given/data.csv" in make_starter(assignment)
