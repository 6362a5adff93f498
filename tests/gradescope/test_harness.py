"""The harness as the platform starts it: whatever happens, 0 and a results.json that the platform takes."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import msgspec
import pytest

from autograder.assignment.assignment import load_assignment
from autograder.gradescope import supervision
from autograder.gradescope.deadline import Deadline
from autograder.gradescope.handoff import Order
from autograder.gradescope.harness import run
from autograder.gradescope.layout import Layout
from autograder.gradescope.supervision import grade_in_time, grading_environment
from autograder.report.gradescope_schema import Results, read_results
from tests.gradescope.platform import harness, laid_out, metadata_of
from tests.tiny import ONE_CHECK, REFERENCE, tiny_assignment

HIDDEN = """
@number("1.2")
@weight(1)
@visibility("hidden")
def test_doubles_more(student, reference, cases):
    \"\"\"Doubling many gives twice the numbers\"\"\"
    x = cases.tensor(2, 3)
    assert torch.equal(student.double(x), reference.double(x)), "not twice the number"
"""
ENDLESS = """
@number("1.9")
@weight(1)
def test_never_ends(student, reference, cases):
    \"\"\"This check of ours never ends\"\"\"
    import pathlib, time
    pathlib.Path({reached!r}).touch()
    time.sleep(3600)
"""


def finished(process) -> str:
    printed, _ = process.communicate(timeout=280)
    assert process.returncode == 0, printed
    return printed


def results_of(layout: Layout) -> Results:
    return read_results(layout.results.read_bytes())


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> Layout:
    """One good submission of a group, two days late for all but one member, with earlier results beside it."""
    folder = tmp_path_factory.mktemp("graded")
    assignment = tiny_assignment(folder, hidden=HIDDEN, points=3)
    manifest = assignment.folder / "assignment.toml"
    manifest.write_text(manifest.read_text() + '\n[late]\nper = "day"\npenalty_percent = 10\n')
    layout = laid_out(folder, load_assignment(assignment.folder), {"numbers_part.py": REFERENCE})
    (layout.root / "results").mkdir()
    late = metadata_of(people=2, previous=2, created_at="2018-08-02T09:00:00.000000-07:00")
    late["users"][0]["assignment"] = {"due_date": "2018-08-01T23:00:00-07:00"}
    finished(harness(layout, {**late, "new key": 1}))
    return layout


def test_a_good_submission_of_a_group_gets_full_marks_for_each_check(graded):
    results = results_of(graded)
    assert [(test.number, test.status, test.score, test.visibility) for test in results.tests] == [
        ("1.1", "passed", 2.0, "visible"),
        ("1.2", "passed", 1.0, "hidden"),
    ]
    assert results.stdout_visibility == "hidden"


def test_a_late_one_pays_from_the_latest_due_date_of_its_members(graded):
    results = results_of(graded)
    assert results.score == 2.7
    assert "each costs 10 %" in results.output


def test_staff_reads_layers_versions_seeds_and_times_and_no_key(graded):
    staff = results_of(graded).extra_data
    assert staff["submission"] == "submission_123456"
    assert staff["sandbox"]["seccomp"].startswith("on")
    assert staff["key"]["versions"]["torch"]
    assert staff["run"]["seeds"]["visible"] == "tiny-visible"
    assert "graded" in staff["run"]["seconds until"]
    assert (staff["run"]["people"], staff["run"]["previous submissions"], staff["run"]["tries"]) == (2, 2, 1)
    data = graded.results.read_text()
    assert "tiny-hidden" not in data and "student_03" not in data and "PREVIOUS" not in data


def test_what_workers_must_not_read_is_closed(graded):
    open_to_others = [path for path in graded.source.rglob("*") if path.stat().st_mode & 0o077]
    assert not open_to_others
    assert graded.metadata.stat().st_mode & 0o077 == 0
    assert graded.results.stat().st_mode & 0o777 == 0o644
    assert [path.name for path in graded.results.parent.iterdir()] == ["results.json"]


def test_a_package_that_is_not_whole_is_told_to_staff_and_blames_nobody(tmp_path):
    layout = laid_out(tmp_path, tiny_assignment(tmp_path), {"numbers_part.py": REFERENCE})
    (layout.source / "package.json").write_text("{")
    results = run(layout, 60)
    assert results == results_of(layout)
    assert results.score == 0 and "not a grade" in results.output and "package.json" not in results.output
    assert "package.json" in str(results.extra_data["staff"])


def test_a_check_that_cannot_be_collected_is_told_to_staff(tmp_path):
    layout = laid_out(tmp_path, tiny_assignment(tmp_path), {"numbers_part.py": REFERENCE})
    check = layout.source / "course/assignments/tiny/checks/test_numbers_part.py"
    check.write_text("import nowhere\n")
    printed = finished(harness(layout, metadata_of()))
    results = results_of(layout)
    assert results.extra_data["status"] == "ungraded"
    assert "nowhere" in str(results.extra_data["staff"]) and "nowhere" in printed
    assert "nowhere" not in results.output and "/" not in results.output


def wait_for(path: Path, process) -> None:
    while not path.exists():
        assert process.poll() is None, process.stdout.read()
        time.sleep(0.05)


@pytest.fixture
def endless(tmp_path):
    """A submission whose last check never ends; `reached` is there when that has begun."""
    reached = tmp_path / "reached"
    checks = ONE_CHECK + ENDLESS.format(reached=str(reached))
    layout = laid_out(tmp_path, tiny_assignment(tmp_path, checks, points=3), {"numbers_part.py": REFERENCE})
    return layout, reached


def processes_below(pid: int) -> list[int]:
    """Every process that descends from `pid`, by what the kernel says."""
    found, waiting = [], [pid]
    while waiting:
        parent = waiting.pop()
        for task in Path(f"/proc/{parent}/task").glob("*/children"):
            children = [int(each) for each in task.read_text().split()]
            found += children
            waiting += children
    return found


def test_a_run_that_is_stopped_keeps_what_was_known_and_leaves_no_process(endless):
    layout, reached = endless
    process = harness(layout, metadata_of())
    wait_for(reached, process)
    assert not results_of(layout).tests  # until the end there is the first file
    below = processes_below(process.pid)
    assert below
    process.send_signal(signal.SIGTERM)
    finished(process)
    results = results_of(layout)
    assert results.score == 2.0
    assert [(test.number, test.score) for test in results.tests] == [("1.1", 2.0), ("1.9", 0.0)]
    assert "not complete" in results.output
    assert "stopped" in results.tests[1].output
    assert results.extra_data["status"] == "incomplete"
    assert not [pid for pid in below if Path(f"/proc/{pid}").exists()]


def test_a_grader_that_dies_is_tried_again_and_then_what_was_known_counts(endless):
    layout, reached = endless
    process = harness(layout, metadata_of())
    for _ in range(2):
        wait_for(reached, process)
        reached.unlink()
        grader = next(pid for pid in processes_below(process.pid) if b"gradescope.grade_one" in command_line(pid))
        os.kill(grader, signal.SIGKILL)
    finished(process)
    results = results_of(layout)
    assert results.score == 2.0
    assert results.extra_data["run"]["tries"] == 2
    assert "for want of memory" in str(results.extra_data["staff"])


def command_line(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def test_where_the_time_is_up_before_anything_was_checked_there_is_no_grade(tmp_path):
    layout = laid_out(tmp_path, tiny_assignment(tmp_path), {"numbers_part.py": REFERENCE})
    order = Order(
        assignment=str(layout.assignment(layout.settings())),
        submission=str(layout.submission),
        name="submission",
        digest="",
        until=0.0,
    )
    outcome = grade_in_time(order, Deadline(0.0, 0.0, 0.0), grading_environment())
    assert outcome.grade is None
    assert "its time was up" in outcome.details[0]


def test_what_the_caller_had_started_before_is_left_alone(tmp_path, monkeypatch):
    """As a fork server that other tests of this process share: neither killed nor waited for in its owner's place."""
    monkeypatch.setattr(supervision, "_SETTLING", 0.5)
    order = Order(assignment=str(tmp_path), submission=str(tmp_path), name="submission", digest="", until=0.0)
    with subprocess.Popen(["sleep", "60"]) as lasting, subprocess.Popen(["false"]) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        grade_in_time(order, Deadline(0.0, 0.0, 0.0), grading_environment())
        lasting.terminate()
        assert [each.wait() for each in (lasting, ended)] == [-signal.SIGTERM, 1]


def test_checks_past_the_deadline_are_named_and_the_points_are_out_of_all(tmp_path):
    layout = laid_out(tmp_path, tiny_assignment(tmp_path), {"numbers_part.py": REFERENCE})
    order = Order(
        assignment=str(layout.assignment(layout.settings())),
        submission=str(layout.submission),
        name="submission",
        digest="",
        until=time.monotonic(),
    )
    far = time.monotonic() + 280
    grade = grade_in_time(order, Deadline(far, far, far), grading_environment()).grade
    assert grade is not None
    assert (grade.points, grade.maximum) == (0.0, 2.0)
    assert grade.checks[0].outcome == "not_run"


def test_results_that_cannot_be_written_end_in_no_failure(tmp_path):
    layout = laid_out(tmp_path, tiny_assignment(tmp_path), {"numbers_part.py": REFERENCE})
    layout.results.mkdir(parents=True)
    (layout.source / "package.json").unlink()
    assert "Is a directory" in finished(harness(layout, metadata_of()))


def test_the_file_that_is_written_before_python_starts_is_taken_by_the_platform():
    script = (Path(__file__).parents[2] / "autograder/gradescope/runtime/run_autograder").read_text()
    first = script.partition("<<'END'\n")[2].partition("\nEND\n")[0]
    content = msgspec.json.decode(first)
    assert content["score"] == 0 and content["tests"] == []
    assert read_results(first.encode()).stdout_visibility == "hidden"
