"""Many submissions with real workers: what is graded, what is resumed, and what one submission can cost the others."""

from __future__ import annotations

import json
import os
import signal

import pytest

from autograder.errors import SoftmarkError
from autograder.grading import record
from autograder.intake.finding import find_submissions
from autograder.report.gradescope_schema import read_results
from autograder.run import pool
from autograder.run.pool import Job, grade_all
from tests.tiny import ONE_CHECK, REFERENCE, tiny_assignment

WRONG = "def double(x):\n    return 3 * x\n"


@pytest.fixture
def assignment(tmp_path):
    return tiny_assignment(tmp_path, limits="cpu_seconds = 1\nimport_seconds = 1")


def hand_in(tmp_path, **sources):
    for name, source in sources.items():
        folder = tmp_path / "handed_in" / name
        folder.mkdir(parents=True, exist_ok=True)
        if source is not None:
            (folder / "numbers_part.py").write_text(source)
    return tmp_path / "handed_in"


def job_of(assignment, tmp_path, **settings):
    found = find_submissions(tmp_path / "handed_in", assignment)
    return Job(assignment, found, tmp_path / "grades", **settings)


def grades_of(job, session, graders=2):
    return {done.grade.submission: done for done in grade_all(job, session, graders)}


def test_every_submission_gets_a_record_and_a_results_file(assignment, tmp_path, session):
    hand_in(tmp_path, student_01=REFERENCE, student_02=WRONG, student_03="def double(x):\n  return (\n")
    done = grades_of(job_of(assignment, tmp_path), session)
    points = {name: each.grade.points for name, each in done.items()}
    assert points == {"student_01": 2, "student_02": 0, "student_03": 0}
    for name, each in done.items():
        assert record.read(tmp_path / "grades", name) == each.grade
        results = read_results((tmp_path / "grades" / name / "results.json").read_bytes())
        assert results.score == each.grade.points
    files = sorted(path.name for path in (tmp_path / "grades" / "student_01").iterdir())
    assert files == ["attempts", "feedback.html", "grade.json", "results.json"]


def test_a_second_run_grades_only_what_has_changed(assignment, tmp_path, session):
    hand_in(tmp_path, student_01=REFERENCE, student_02=WRONG)
    grades_of(job_of(assignment, tmp_path), session)
    hand_in(tmp_path, student_02=REFERENCE)
    done = grades_of(job_of(assignment, tmp_path), session)
    assert {name: each.resumed for name, each in done.items()} == {"student_01": True, "student_02": False}
    assert done["student_02"].grade.points == 2


def test_again_grades_everything(assignment, tmp_path, session):
    hand_in(tmp_path, student_01=REFERENCE)
    grades_of(job_of(assignment, tmp_path), session)
    assert not grades_of(job_of(assignment, tmp_path, again=True), session)["student_01"].resumed


def test_a_changed_check_makes_every_grade_stale(assignment, tmp_path, session):
    hand_in(tmp_path, student_01=REFERENCE)
    grades_of(job_of(assignment, tmp_path), session)
    file = assignment.folder / "checks" / "test_numbers_part.py"
    file.write_text(file.read_text().replace("cases.tensor(3)", "cases.tensor(4)"))
    assert not grades_of(job_of(assignment, tmp_path), session)["student_01"].resumed


def test_only_some_checks_is_an_incomplete_grade_that_is_never_resumed(assignment, tmp_path, session):
    hand_in(tmp_path, student_01=REFERENCE)
    done = grades_of(job_of(assignment, tmp_path, only=["1.1"]), session)
    assert done["student_01"].grade.status == "incomplete"
    assert not grades_of(job_of(assignment, tmp_path), session)["student_01"].resumed


def test_a_check_that_is_not_there_is_named(assignment, tmp_path, session):
    hand_in(tmp_path, student_01=REFERENCE)
    with pytest.raises(SoftmarkError, match=r"no check '9\.9' \(there are exercises 1\.1\)"):
        grades_of(job_of(assignment, tmp_path, only=["9.9"]), session)


def test_what_nobody_can_read_is_ungraded_and_the_others_are_graded(assignment, tmp_path, session):
    hand_in(tmp_path, student_01=REFERENCE, student_02=None)
    done = grades_of(job_of(assignment, tmp_path), session)
    assert done["student_01"].grade.points == 2
    assert (done["student_02"].grade.status, done["student_02"].grade.points) == ("ungraded", None)
    assert "student_02" in done["student_02"].grade.reason


HOSTILE = {
    "exits": "import os\ndef double(x):\n    os._exit(0)\n",
    "crashes": "import ctypes\ndef double(x):\n    ctypes.string_at(0)\n",
    "hangs": "def double(x):\n while True:\n  try:\n   1 / 0\n  except BaseException:\n   pass\n",
    "import_exits": "import os\nos._exit(0)\n",
    "import_hangs": "while True:\n    pass\n",
    "floods": "def double(x):\n    print('2/2 passed' * 200_000)\n    return x\n",
    "eats": "import torch\ndef double(x):\n    kept = []\n    while True:\n        kept.append(torch.zeros(1 << 24))\n",
}
OUTCOMES = {
    "exits": "crashed",
    "crashes": "crashed",
    "hangs": "timed_out",
    "import_exits": "crashed",
    "import_hangs": "timed_out",
    "floods": "failed",
    "eats": "failed",
}


def test_submissions_that_crash_hang_or_eat_memory_cost_themselves_alone(assignment, tmp_path, session):
    hand_in(tmp_path, student_99=REFERENCE, **HOSTILE)
    done = grades_of(job_of(assignment, tmp_path), session)
    assert done["student_99"].grade.points == 2
    assert {name: done[name].grade.checks[0].outcome for name in HOSTILE} == OUTCOMES
    assert all(done[name].grade.points == 0 and done[name].grade.status == "graded" for name in HOSTILE)


def test_definitions_before_a_final_exit_count(assignment, tmp_path, session):
    hand_in(tmp_path, student_01=REFERENCE + "\nimport sys\nsys.exit(0)\n")
    assert grades_of(job_of(assignment, tmp_path), session)["student_01"].grade.points == 2


def test_a_long_list_of_numbers_in_the_source_has_memory_enough(tmp_path, session):
    assignment = tiny_assignment(tmp_path)  # with time enough, too
    numbers = ", ".join(f"{number / 7:.6f}" for number in range(250_000))
    hand_in(tmp_path, student_01=f"WEIGHTS = [{numbers}]\n{REFERENCE}")
    assert grades_of(job_of(assignment, tmp_path), session)["student_01"].grade.points == 2


def test_what_is_printed_is_kept_bounded_and_shown_with_the_check(assignment, tmp_path, session):
    hand_in(tmp_path, student_01="def double(x):\n    print('here I am')\n    return x\n", student_02=HOSTILE["floods"])
    done = grades_of(job_of(assignment, tmp_path), session)
    assert "here I am" in done["student_01"].grade.checks[0].output
    assert len(done["student_02"].grade.checks[0].output) < 11_000


def test_a_grader_that_dies_once_costs_one_retry(assignment, tmp_path, session, monkeypatch):
    hand_in(tmp_path, student_01=REFERENCE, student_02=REFERENCE)
    die_once(monkeypatch, tmp_path / "died", "student_01", times=1)
    done = grades_of(job_of(assignment, tmp_path), session)
    assert {name: each.grade.points for name, each in done.items()} == {"student_01": 2, "student_02": 2}


def test_a_grader_that_dies_every_time_leaves_the_submission_ungraded_and_goes_on(
    assignment, tmp_path, session, monkeypatch
):
    hand_in(tmp_path, student_01=REFERENCE, student_02=REFERENCE)
    die_once(monkeypatch, tmp_path / "died", "student_01", times=9)
    done = grades_of(job_of(assignment, tmp_path), session, graders=1)
    assert done["student_01"].grade.status == "ungraded"
    assert "died 2 times" in done["student_01"].grade.reason
    assert done["student_02"].grade.points == 2
    assert json.loads((tmp_path / "grades" / "student_01" / "results.json").read_text())["score"] == 0


def die_once(monkeypatch, marks, whom, times):
    """Have the grader process kill itself when it comes to `whom`, the first `times` times."""
    read, parent = record.read, os.getpid()
    marks.mkdir()

    def read_or_die(out, name):
        if name == whom and os.getpid() != parent and len(list(marks.iterdir())) < times:
            (marks / str(len(list(marks.iterdir())))).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return read(out, name)

    monkeypatch.setattr(pool.record, "read", read_or_die)


def test_a_broken_check_file_stops_the_run_with_its_sentence(assignment, tmp_path, session):
    hand_in(tmp_path, student_01=REFERENCE)
    (assignment.folder / "checks" / "test_numbers_part.py").write_text(ONE_CHECK)
    with pytest.raises(SoftmarkError, match="NameError"):
        grades_of(job_of(assignment, tmp_path), session)
