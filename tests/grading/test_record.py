"""The record of a grade: written whole, read back the same, and stale when something that it depends on changes."""

from __future__ import annotations

import stat
from pathlib import Path

import msgspec
import pytest

from autograder.assignment.late import ACCOMMODATIONS
from autograder.grading import record
from autograder.results import Grade, Key, Versions
from tests.tiny import tiny_assignment

KEY = Key(submission="a", assignment="b", grader="c", versions=Versions(softmark="1", torch="2", python="3"))
GRADE = Grade(submission="student_03", assignment="tiny", status="graded", points=1.5, maximum=2.0, reason="é", key=KEY)


def test_a_record_is_read_back_as_it_was_written_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    record.write(tmp_path, GRADE)
    assert record.read(tmp_path, "student_03") == GRADE
    path = tmp_path / "student_03" / "grade.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["grade.json"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"submission": 3}'])
def test_what_is_no_record_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "student_03").mkdir()
    (tmp_path / "student_03" / "grade.json").write_bytes(content)
    assert record.read(tmp_path, "student_03") is None


@pytest.mark.parametrize("field", ["submission", "assignment", "grader"])
def test_a_grade_is_stale_once_something_else_goes_into_it(field: str) -> None:
    assert record.is_current(GRADE, KEY)
    assert not record.is_current(GRADE, msgspec.structs.replace(KEY, **{field: "another"}))


@pytest.mark.parametrize("status", ["incomplete", "ungraded"])
def test_what_is_not_graded_is_never_current(status: str) -> None:
    assert not record.is_current(msgspec.structs.replace(GRADE, status=status), KEY)


def test_extra_time_of_a_student_leaves_the_digest_of_an_assignment_and_a_check_does_not(tmp_path: Path) -> None:
    assignment = tiny_assignment(tmp_path)
    before = record.assignment_digest(assignment)
    assignment.hidden.mkdir(exist_ok=True)
    (assignment.hidden / ACCOMMODATIONS).write_text('"student_03" = "2 days"\n')
    assert record.assignment_digest(assignment) == before
    check = assignment.folder / "checks" / "test_numbers_part.py"
    check.write_text(check.read_text() + "# changed\n")
    assert record.assignment_digest(assignment) != before


def test_a_write_that_fails_leaves_the_file_that_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "grade.json"
    record.write_atomically(path, b"old")

    def fails(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(record.os, "replace", fails)
    with pytest.raises(KeyboardInterrupt):
        record.write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["grade.json"]
