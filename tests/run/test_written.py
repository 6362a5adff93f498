"""What a run writes: nothing that was earned is written over, and whom a run was over is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.errors import SoftmarkError
from autograder.grading import record
from autograder.report.gradescope_json import to_results_json
from autograder.results import Grade, to_json
from autograder.run import written
from autograder.run.written import Run, attempts, latest_run, note_run, recorded
from tests.report.grades import grade, passed, ungraded
from tests.tiny import tiny_assignment

WHOLE = grade(passed())
INCOMPLETE = grade(passed(), status="incomplete", reason="a check broke")


def test_an_incomplete_grade_does_not_replace_a_whole_one(tmp_path: Path) -> None:
    written.write(tmp_path, WHOLE)
    (tmp_path / "student_03" / "results.json").write_text("had not finished")
    told = written.replace(tmp_path, WHOLE, INCOMPLETE)
    assert record.read(tmp_path, "student_03") == WHOLE
    assert (tmp_path / "student_03" / "results.json").read_bytes() == to_results_json(WHOLE)
    assert (told.status, told.staff) == ("incomplete", ("earlier: the grade of 2 points is kept.",))


@pytest.mark.parametrize("before", [None, INCOMPLETE, ungraded()])
@pytest.mark.parametrize("after", [WHOLE, INCOMPLETE, ungraded()])
def test_what_is_no_whole_grade_is_replaced(tmp_path: Path, before: Grade | None, after: Grade) -> None:
    assert written.replace(tmp_path, before, after) is after
    assert record.read(tmp_path, "student_03") == after


def test_of_a_hand_in_that_nobody_can_read_any_more_the_grade_lies_beside_the_record(tmp_path: Path) -> None:
    told = written.replace(tmp_path, WHOLE, ungraded())
    assert record.read(tmp_path, "student_03") == told
    assert told.staff == ("earlier: the grade of 2 points lies in attempts/.",)
    assert [path.read_bytes() for _, path in attempts(tmp_path, "student_03")] == [to_json(WHOLE), to_json(told)]


def test_the_records_of_an_assignment_are_read_and_a_damaged_one_is_told(tmp_path: Path) -> None:
    assignment = tiny_assignment(tmp_path)
    out = tmp_path / "out"
    for name, of in (("a", "tiny"), ("b", "other"), ("c", "tiny")):
        written.write(out, grade(submission=name, assignment=of))
    (out / "c" / "grade.json").write_text("{")
    (out / "d").mkdir()
    found = list(recorded(out, assignment.name, assignment.maximum))
    assert [(each.submission, each.status) for each in found] == [("a", "graded"), ("c", "ungraded")]
    assert "damaged" in found[1].reason


def test_the_latest_run_is_that_of_the_same_assignment(tmp_path: Path) -> None:
    assert latest_run(tmp_path, "tiny") is None
    run = Run(assignment="tiny", names=("a", "b"))
    note_run(tmp_path, run)
    assert latest_run(tmp_path, "tiny") == run
    assert latest_run(tmp_path, "other") is None
    (tmp_path / "run.json").write_text("?")
    assert latest_run(tmp_path, "tiny") is None


def test_what_cannot_be_written_is_a_sentence_with_the_file(tmp_path: Path) -> None:
    (tmp_path / "student_03" / "grade.json").mkdir(parents=True)
    with pytest.raises(
        SoftmarkError, match=r"student_03/grade\.json could not be written \(Is a directory\)"
    ) as caught:
        written.write(tmp_path, WHOLE)
    assert "What was graded before is kept" in str(caught.value)
