"""The recipe itself: what is recorded when something of ours goes wrong on the way."""

from __future__ import annotations

from autograder.errors import GraderError
from autograder.intake.submission import SourceTree
from tests.running import in_process, with_grader
from tests.tiny import REFERENCE, tiny_assignment


def test_a_submission_whose_processes_may_live_on_is_incomplete_and_does_not_stop_the_run(tmp_path, session):
    assignment = tiny_assignment(tmp_path)
    grades = []

    def not_sure():
        raise GraderError("processes of worker 7 could not be killed")

    def work(grader):
        grader._spawn_from = session.spawn_from(assignment)
        tree = SourceTree(files={"numbers_part.py": REFERENCE.encode()})
        grades.append(grader.grade_tree("student_03", tree))
        grader._settle = lambda: None
        grades.append(grader.grade_tree("student_04", tree))

    with_grader(assignment, work, settle=not_sure)
    session.settle()
    assert [grade.status for grade in grades] == ["incomplete", "graded"]
    assert "worker 7" in grades[0].reason


def test_what_is_tried_out_is_out_of_the_points_of_the_chosen_checks(tmp_path):
    assignment = tiny_assignment(tmp_path)
    grades = []
    with in_process(REFERENCE, tmp_path) as here:

        def work(grader):
            grades.append(grader.try_out("student_03", here, ["1.1"]))

        with_grader(assignment, work)
    assert (grades[0].points, grades[0].maximum, len(grades[0].checks)) == (2, 2, 1)
