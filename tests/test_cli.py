"""What people type: exit codes, one-sentence errors, and what is printed. Real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from autograder.results import Grade, to_json
from tests.tiny import ONE_CHECK, REFERENCE, tiny_assignment


def softmark(*words, cwd=None):
    command = [sys.executable, "-m", "autograder.cli", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=120, check=False)


@pytest.fixture
def handed_in(tmp_path):
    for name, source in {"student_01": REFERENCE, "student_02": "def double(x):\n    return 3 * x\n"}.items():
        (tmp_path / "handed_in" / name).mkdir(parents=True)
        (tmp_path / "handed_in" / name / "numbers_part.py").write_text(source)
    return tmp_path / "handed_in"


def test_help_imports_no_torch():
    code = """
import sys
sys.argv = ["softmark", "--help"]
from autograder.cli import main
try:
    main()
except SystemExit:
    pass
assert not {"torch", "pytest", "numpy"} & set(sys.modules), "a heavy import"
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "grade" in done.stdout


def test_grade_prints_the_table_writes_the_files_and_a_second_run_resumes(tmp_path, handed_in):
    assignment = tiny_assignment(tmp_path)
    first = softmark("grade", assignment.folder, handed_in, "-o", tmp_path / "out", "-j", "2")
    assert first.returncode == 0, first.stderr
    lines = first.stdout.splitlines()
    assert lines[0].split()[:3] == ["submission", "numbers_part", "total"]
    assert lines[1].split() == ["student_01", "2/2", "2/2"]
    assert lines[2].split() == ["student_02", "0/2", "0/2"]
    csv = (tmp_path / "out" / "grades.csv").read_text().splitlines()
    assert csv[1].startswith("student_01,,,,graded,2,2")
    second = softmark("grade", assignment.folder, handed_in, "-o", tmp_path / "out")
    assert "2 of 2 had not changed" in second.stderr
    assert second.stdout == first.stdout


def test_what_cannot_be_graded_is_exit_code_1_and_the_others_are_graded(tmp_path, handed_in):
    (handed_in / "student_03").mkdir()
    done = softmark("grade", tiny_assignment(tmp_path).folder, handed_in, "-o", tmp_path / "out", "--json")
    assert done.returncode == 1
    grades = {grade["submission"]: grade for grade in json.loads(done.stdout)}
    assert grades["student_03"]["status"] == "ungraded"
    assert grades["student_01"]["points"] == 2


def test_show_tells_a_grade_in_five_lines(tmp_path, handed_in):
    softmark("grade", tiny_assignment(tmp_path).folder, handed_in, "-o", tmp_path / "out")
    shown = softmark("show", tmp_path / "out", "student_02").stdout
    assert "Doubling gives twice the number" in shown
    assert "double(tensor([" in shown
    unknown = softmark("show", tmp_path / "out", "student_09")
    assert unknown.returncode == 2
    assert "there are: student_01, student_02" in unknown.stderr


def one_sentence(done, code, *words):
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    for word in words:
        assert word in done.stderr


def test_no_such_assignment(tmp_path, handed_in):
    done = softmark("grade", tmp_path / "assignments" / "tinny", handed_in, "-o", tmp_path / "out")
    one_sentence(done, 2, "tinny")


def test_no_such_submissions(tmp_path):
    done = softmark("grade", tiny_assignment(tmp_path).folder, tmp_path / "nowhere", "-o", tmp_path / "out")
    one_sentence(done, 2, "nowhere")


def test_a_manifest_with_a_wrong_key(tmp_path, handed_in):
    folder = tiny_assignment(tmp_path).folder
    manifest = folder / "assignment.toml"
    manifest.write_text(manifest.read_text().replace("points", "pionts"))
    one_sentence(softmark("grade", folder, handed_in, "-o", tmp_path / "out"), 2, "pionts", "points")


def test_points_that_do_not_add_up(tmp_path, handed_in):
    folder = tiny_assignment(tmp_path, points=3).folder
    one_sentence(softmark("grade", folder, handed_in, "-o", tmp_path / "out"), 2, "add up to 2", "says 3")


def test_an_out_that_is_a_file(tmp_path, handed_in):
    (tmp_path / "out").write_text("")
    done = softmark("grade", tiny_assignment(tmp_path).folder, handed_in, "-o", tmp_path / "out")
    one_sentence(done, 2, str(tmp_path / "out"))


def test_debug_shows_the_traceback(tmp_path):
    done = softmark("grade", tmp_path / "nothing", tmp_path, "-o", tmp_path / "out", "--debug")
    assert "Traceback" in done.stderr


def starter_folder(tmp_path, source):
    assignment = tiny_assignment(tmp_path, ONE_CHECK)
    folder = tmp_path / "starter_code" / "tiny"
    folder.mkdir(parents=True)
    (folder / "numbers_part.py").write_text(source)
    return assignment, folder


@pytest.mark.parametrize("how", [[], ["--in-process"]])
@pytest.mark.parametrize(("source", "code"), [(REFERENCE, 0), ("def double(x):\n    return 3 * x\n", 1)])
def test_check_says_how_the_visible_checks_stand(tmp_path, how, source, code):
    _, folder = starter_folder(tmp_path, source)
    done = softmark("check", *how, cwd=folder)
    assert done.returncode == code, done.stderr
    assert ("not twice the number" in done.stdout) == bool(code)


def test_check_in_process_stops_at_breakpoints(tmp_path):
    _, folder = starter_folder(tmp_path, "def double(x):\n    breakpoint()\n    return 2 * x\n")
    command = [sys.executable, "-m", "autograder.cli", "check", "--in-process"]
    done = subprocess.run(
        command, input="p 'I am', 'here'\nc\n", capture_output=True, text=True, cwd=folder, timeout=60, check=False
    )
    assert "('I am', 'here')" in done.stdout
    assert done.returncode == 0


def test_check_loads_no_hidden_check(tmp_path):
    assignment, folder = starter_folder(tmp_path, REFERENCE)
    (assignment.hidden / "test_numbers_part.py").write_text("raise SystemError('the hidden checks were read')\n")
    assert softmark("check", cwd=folder).returncode == 0


def test_check_of_a_part_that_is_not_there(tmp_path):
    _, folder = starter_folder(tmp_path, REFERENCE)
    one_sentence(softmark("check", "--part", "nine", cwd=folder), 2, "nine", "numbers_part")


def test_check_in_a_folder_of_no_assignment(tmp_path):
    one_sentence(softmark("check", cwd=tmp_path), 2, "belongs to no assignment")


def test_starter_is_written_and_found_stale(tmp_path):
    assignment = tiny_assignment(tmp_path)
    assert softmark("starter", assignment.folder, "--check").returncode == 1
    assert softmark("starter", assignment.folder).returncode == 0
    assert "raise NotImplementedError" in (assignment.starter / "numbers_part.py").read_text()
    assert softmark("starter", assignment.folder, "--check").returncode == 0


def test_grades_do_not_lie_among_the_hand_ins(tmp_path, handed_in):
    folder = tiny_assignment(tmp_path).folder
    one_sentence(softmark("grade", folder, handed_in, "-o", handed_in / "out"), 2, "would be graded the next time")
    assert not (handed_in / "out").exists()


def test_grades_of_another_assignment_are_not_written_over(tmp_path, handed_in):
    (tmp_path / "out" / "student_01").mkdir(parents=True)
    grade = Grade(submission="student_01", assignment="other", status="graded", points=1, maximum=1)
    (tmp_path / "out" / "student_01" / "grade.json").write_bytes(to_json(grade))
    done = softmark("grade", tiny_assignment(tmp_path).folder, handed_in, "-o", tmp_path / "out")
    one_sentence(done, 2, "holds grades of other")


def test_only_some_checks_leaves_a_whole_grade_as_it_was(tmp_path, handed_in):
    folder = tiny_assignment(tmp_path).folder
    softmark("grade", folder, handed_in, "-o", tmp_path / "out")
    before = (
        (tmp_path / "out" / "student_01" / "grade.json").read_bytes(),
        (tmp_path / "out" / "grades.csv").read_text(),
    )
    done = softmark("grade", folder, handed_in, "-o", tmp_path / "out", "--only", "1.1")
    assert "incomplete" in done.stdout
    after = (tmp_path / "out" / "student_01" / "grade.json").read_bytes(), (tmp_path / "out" / "grades.csv").read_text()
    assert after == before


@pytest.mark.parametrize(("where", "code"), [(">&-", 0), ("2>&-", 0), (">/dev/full", 2), ("| true", 0)])
def test_what_is_printed_is_out_or_the_exit_code_says_so(tmp_path, where, code):
    (tmp_path / "out" / "student_03").mkdir(parents=True)
    grade = Grade(submission="student_03", assignment="tiny", status="graded", points=1, maximum=2)
    (tmp_path / "out" / "student_03" / "grade.json").write_bytes(to_json(grade))
    command = f"set -o pipefail; {sys.executable} -m autograder.cli show {tmp_path}/out student_03 --json {where}"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=120, check=False, env=environment
    )
    assert done.returncode == code, done.stderr
    assert ("No space left" in done.stderr) == (code == 2)
    assert "Traceback" not in done.stderr
