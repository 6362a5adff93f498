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


def test_every_visible_check_runs_before_the_first_hidden_one_and_results_are_sorted_by_number(tmp_path):
    check = '@number("1.{}")\n@weight(1)\n@visibility("{}")\ndef test_{}(student):\n    """It doubles"""\n'
    check += "    student.double({})\n"
    visible = "".join(check.format(n, "visible", n, n) for n in (2, 4))
    hidden = "".join(check.format(n, "hidden", n, n) for n in (1, 3))
    assignment = tiny_assignment(tmp_path, visible, hidden, points=4)
    kept, grades = [], []
    with in_process(REFERENCE, tmp_path) as here:

        def work(grader):
            grader.keep = lambda result: kept.append(result.number)
            grades.append(grader.try_out("student_03", here))

        with_grader(assignment, work)
    assert kept == ["1.2", "1.4", "1.1", "1.3"]
    assert [each.number for each in grades[0].checks] == ["1.1", "1.2", "1.3", "1.4"]


def test_where_reading_moves_access_times_each_worker_has_files_of_its_own(tmp_path, session, monkeypatch):
    monkeypatch.setattr("autograder.sandbox.access_times.stand_still", lambda _folder: False)
    check = '@number("1.{0}")\n@weight(1)\ndef test_{0}(student):\n    """It doubles"""\n'
    check += "    assert student.double(1) == 2\n"
    assignment = tiny_assignment(tmp_path, "".join(check.format(n) for n in (1, 2)), points=2)
    source = SourceTree(files={"numbers_part.py": b"print(__file__)\ndef double(x):\n    return 2 * x\n"})
    grades = []

    def work(grader):
        grader._spawn_from = session.spawn_from(assignment)
        grades.append(grader.grade_tree("student_03", source))

    with_grader(assignment, work)
    assert [each.outcome for each in grades[0].checks] == ["passed", "passed"]
    assert len({each.output for each in grades[0].checks}) == 2
