"""The recipe itself: what is recorded when something of ours goes wrong on the way."""

from __future__ import annotations

from autograder.assignment.assignment import load_assignment
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


def test_no_cause_of_a_visible_check_depends_on_hidden_ones(tmp_path, monkeypatch):
    import autograder.grading.grader as module

    check = '@number("1.{}")\n@weight(1)\n@visibility("{}")\ndef test_{}(student):\n    """It doubles"""\n'
    check += "    assert student.double(1) == {}\n"
    visible = "".join(check.format(n, "visible", n, 3) for n in (2, 4))
    hidden = "".join(check.format(n, "hidden", n, 3) for n in (1, 3))
    assignment = tiny_assignment(tmp_path, visible, hidden, points=4)
    known = {}

    def noted(results, diagnosis):
        for each in results:
            known[each.number] = set(diagnosis._seen)
        return list(results)

    monkeypatch.setattr(module, "with_causes", noted)
    with in_process(REFERENCE, tmp_path) as here:
        with_grader(assignment, lambda grader: grader.try_out("student_03", here))
    assert known == {
        "1.2": {"1.2", "1.4"},
        "1.4": {"1.2", "1.4"},
        **{number: {"1.1", "1.2", "1.3", "1.4"} for number in ("1.1", "1.3")},
    }


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


def test_a_ban_costs_the_checks_that_it_would_have_earned_with_file_and_line_and_staff_are_told(tmp_path, session):
    check = (
        '@number("1.{0}")\n@weight(1)\ndef test_{0}(student):\n    """It sums up"""\n    student.{1}(torch.ones(3))\n'
    )
    tiny_assignment(tmp_path, check.format(1, "double") + check.format(2, "Counter"), points=2)
    manifest = tmp_path / "assignments" / "tiny" / "assignment.toml"
    manifest.write_text(manifest.read_text().replace("functions =", 'forbids = ["torch.softmax"]\nfunctions ='))
    assignment = load_assignment(manifest.parent)
    source = b"import torch\ndef double(x):\n    return torch.softmax(x, 0)\ndef Counter(x):\n    return 3\n"
    grades = []

    def work(grader):
        grader._spawn_from = session.spawn_from(assignment)
        grades.append(grader.grade_tree("student_03", SourceTree(files={"numbers_part.py": source})))

    with_grader(assignment, work)
    first, second = grades[0].checks
    assert (first.outcome, second.outcome, grades[0].points) == ("failed", "passed", 1)
    assert "torch.softmax is left out" in first.reason.message
    assert "numbers_part.py, line 3, in double" in first.reason.frames
    assert grades[0].staff == ("check 1.1 failed because the submission used torch.softmax",)
