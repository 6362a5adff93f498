"""A run of `softmark grade`, whole or ended: what is refused before it, what is kept after it. Real processes."""

from __future__ import annotations

import csv
import os
import select
import shutil
import signal
import subprocess
import sys

import pytest

from autograder.results import from_json
from tests.test_cli import handed_in, one_sentence, softmark
from tests.tiny import REFERENCE, tiny_assignment

__all__ = ["handed_in"]  # the fixture


def row_of(tmp_path, name):
    with open(tmp_path / "out" / "grades.csv", newline="") as file:
        return next(row for row in csv.DictReader(file) if row["submission"] == name)


def test_a_missing_reference_is_refused_before_anything_is_graded(tmp_path, handed_in):
    assignment = tiny_assignment(tmp_path)
    (assignment.solutions / "numbers_part.py").unlink()
    done = softmark("grade", assignment.folder, handed_in, "-o", tmp_path / "out")
    one_sentence(done, 2, "numbers_part.py is missing", "needs its reference solution")
    assert not (tmp_path / "out").exists()


def test_a_reference_without_a_function_is_refused_and_no_grade_is_lost(tmp_path, handed_in):
    assignment = tiny_assignment(tmp_path)
    softmark("grade", assignment.folder, handed_in, "-o", tmp_path / "out")
    before = (tmp_path / "out" / "student_01" / "grade.json").read_bytes()
    (assignment.solutions / "numbers_part.py").write_text(REFERENCE.replace("class Counter", "class Other"))
    done = softmark("grade", assignment.folder, handed_in, "-o", tmp_path / "out")
    one_sentence(done, 2, "has no Counter, which the manifest names")
    assert (tmp_path / "out" / "student_01" / "grade.json").read_bytes() == before


def test_grading_one_student_again_leaves_the_others_in_the_gradebook(tmp_path, handed_in):
    folder = tiny_assignment(tmp_path).folder
    softmark("grade", folder, handed_in, "-o", tmp_path / "out")
    (handed_in / "student_02" / "numbers_part.py").write_text(REFERENCE)
    softmark("grade", folder, handed_in / "student_02", "-o", tmp_path / "out")
    totals = {name: row_of(tmp_path, name)["total"] for name in ("student_01", "student_02")}
    assert totals == {"student_01": "2", "student_02": "2"}
    shutil.rmtree(handed_in / "student_01")
    softmark("grade", folder, handed_in, "-o", tmp_path / "out")
    assert [row_of(tmp_path, name)["absent"] for name in ("student_01", "student_02")] == ["yes", ""]


def test_a_record_that_was_edited_is_told_and_a_damaged_one_is_not_called_missing(tmp_path, handed_in):
    folder = tiny_assignment(tmp_path).folder
    softmark("grade", folder, handed_in, "-o", tmp_path / "out")
    file = tmp_path / "out" / "student_02" / "grade.json"
    file.write_bytes(file.read_bytes().replace(b'"points": 0.0', b'"points": 2.0'))
    assert "somebody changed it" in softmark("show", tmp_path / "out", "student_02").stdout
    again = softmark("grade", folder, handed_in, "-o", tmp_path / "out").stdout.splitlines()
    assert "edited: grade.json" in again[2] and "edited" not in again[1]
    file.write_bytes(file.read_bytes()[:100])
    one_sentence(softmark("show", tmp_path / "out", "student_02"), 1, "grade.json is damaged")


@pytest.mark.parametrize("place", ["student_01/grade.json/", "student_02", "grades.csv/", "student_01/results.json/"])
def test_what_stands_in_a_records_place_is_refused_before_anything_is_graded(tmp_path, handed_in, place):
    path = tmp_path / "out" / place
    path.parent.mkdir(parents=True)
    path.mkdir() if place.endswith("/") else path.touch()
    done = softmark("grade", tiny_assignment(tmp_path).folder, handed_in, "-o", tmp_path / "out")
    one_sentence(done, 2, place.rstrip("/"), "move it away")
    assert not (tmp_path / "out" / "run.json").exists()


SLOW = "import time\ndef double(x):\n    time.sleep(3)\n    return 2 * x\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_run_that_is_ended_prints_and_keeps_what_was_graded(tmp_path, handed_in, number):
    for student in range(3, 9):
        (handed_in / f"student_0{student}").mkdir()
        (handed_in / f"student_0{student}" / "numbers_part.py").write_text(SLOW)
    folder = tiny_assignment(tmp_path).folder
    command = [sys.executable, "-m", "autograder.cli", "grade", folder, handed_in, "-o", tmp_path / "out", "-j", "1"]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    record = tmp_path / "out" / "student_02" / "grade.json"
    while not record.exists() and run.poll() is None:
        select.select([], [], [], 0.05)
    os.killpg(run.pid, number)  # as a terminal does, that is closed
    try:
        out, err = run.communicate(timeout=8)
    except subprocess.TimeoutExpired:  # Python drops an exception that meets a destructor: people press it again
        os.killpg(run.pid, number)
        out, err = run.communicate(timeout=60)
    assert (run.returncode, "Traceback" in err) == (130, False), err
    assert "interrupted. What was graded is kept" in err
    assert [line.split()[:2] for line in out.splitlines()[1:3]] == [["student_01", "2/2"], ["student_02", "0/2"]]
    assert (row_of(tmp_path, "student_01")["total"], row_of(tmp_path, "student_02")["total"]) == ("2", "0")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_full_disk_is_a_sentence_and_what_was_graded_is_kept(tmp_path, handed_in):
    out = tmp_path / "out"
    out.mkdir()
    small = ["mount", "-t", "tmpfs", "-o", "size=24k", "none", out]
    if subprocess.run(small, capture_output=True, check=False).returncode:
        pytest.skip("a container without the right to mount")
    try:
        for student in range(3, 13):
            shutil.copytree(handed_in / "student_02", handed_in / f"student_{student:02}")
        done = softmark("grade", tiny_assignment(tmp_path).folder, handed_in, "-o", out, "-j", "1")
        one_sentence(done, 2, str(out), "(No space left on device)", "What was graded before is kept")
        assert done.stdout.splitlines()[1].split()[:2] == ["student_01", "2/2"]
        assert from_json((out / "student_01" / "grade.json").read_bytes()).points == 2
    finally:
        subprocess.run(["umount", out], check=True)


@pytest.mark.parametrize("where", ["| head -n 1", "2>&1 >/dev/null | true"])
def test_a_run_that_nobody_reads_is_whole_all_the_same(tmp_path, handed_in, where):
    folder = tiny_assignment(tmp_path).folder
    for student in range(3, 23):  # so many that progress is told
        shutil.copytree(handed_in / "student_01", handed_in / f"student_{student:02}")
    command = (
        f"set -o pipefail; {sys.executable} -m autograder.cli grade {folder} {handed_in} -o {tmp_path}/out {where}"
    )
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert row_of(tmp_path, "student_22")["total"] == "2"


def test_a_hand_in_whose_name_is_no_utf_8_is_graded_with_the_others(tmp_path, handed_in):
    odd = os.fsencode(handed_in) + b"/k\xf6nig"
    os.mkdir(odd)
    with open(odd + b"/numbers_part.py", "w") as file:
        file.write(REFERENCE)
    done = softmark("grade", tiny_assignment(tmp_path).folder, handed_in, "-o", tmp_path / "out")
    assert "Traceback" not in done.stderr
    assert row_of(tmp_path, "k_nig")["total"] == "2" and row_of(tmp_path, "student_01")["total"]
