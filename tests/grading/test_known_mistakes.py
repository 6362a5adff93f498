"""The mistake bank of the course is the one that its checks and solutions make; a stale one is said to be so."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.assignment.assignment import load_assignment
from autograder.commands.validate import prove
from autograder.grading.known_mistakes import bank_file, is_stale, load_bank
from tests.tiny import tiny_assignment

ASSIGNMENTS = sorted(Path(__file__).parents[2].glob("assignments/*/assignment.toml"))


@pytest.mark.parametrize("manifest", ASSIGNMENTS, ids=lambda path: path.parent.name)
def test_the_bank_of_the_course_is_current_and_knows_its_mistakes(manifest: Path) -> None:
    assignment = load_assignment(manifest.parent)
    known = set(load_bank(assignment).mistakes)
    files = {path.stem for path in (assignment.solutions / "mistakes").glob("*/*.py")}
    assert not is_stale(assignment), "run `make validate`"
    assert len(known) >= 0.9 * len(files)


def test_a_bank_is_stale_after_a_check_has_changed(tmp_path, session) -> None:
    assignment = tiny_assignment(tmp_path)
    prove(assignment, session, 1)
    assert bank_file(assignment).is_file() and not is_stale(assignment)
    file = assignment.folder / "checks" / "test_numbers_part.py"
    file.write_text(file.read_text() + "\n# changed\n")
    assert is_stale(assignment)
    assert not load_bank(assignment).mistakes
