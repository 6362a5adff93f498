"""A TA's evening in real processes: roster, override, regrade, export, and whom a run is over."""

from __future__ import annotations

import csv
import json

from tests.test_cli import handed_in, one_sentence, softmark
from tests.tiny import tiny_assignment

__all__ = ["handed_in"]  # the fixture

ROSTER = """Student,ID,SIS User ID,Section,Tiny (7)
    Points Possible,,,,2
,1,student_01,A,
,2,student_02,A,
,3,student_09,A,
"""


def graded(tmp_path, handed_in):
    assignment, out = tiny_assignment(tmp_path), tmp_path / "out"
    (tmp_path / "roster.csv").write_text(ROSTER)
    done = softmark("grade", assignment.folder, handed_in, "-o", out, "--roster", tmp_path / "roster.csv")
    assert done.returncode == 0, done.stderr
    return assignment, out, done


def column(path, name):
    with open(path, newline="", encoding="utf-8-sig") as file:
        return [row[name] for row in csv.DictReader(file)]


def test_from_the_roster_to_the_file_that_is_uploaded(tmp_path, handed_in):
    _, out, done = graded(tmp_path, handed_in)
    assert "nothing handed in: student_09." in done.stderr
    assert column(out / "people.csv", "total") == ["2", "0", ""]
    said = softmark("override", out, "student_02", "1.1", "1.5", "--why", "nearly right")
    assert said.stdout == "student_02: 0 -> 1.5 of 2.\n"
    export = softmark("export", out, "--format", "canvas", "--template", tmp_path / "roster.csv")
    assert export.returncode == 0, export.stderr
    assert (out / "export-canvas.csv").read_text() == ROSTER.replace("01,A,", "01,A,2").replace("02,A,", "02,A,1.5")
    assert column(out / "grades.csv", "total") == ["2", "1.5"]
    assert "nearly right" in (out / "student_02" / "feedback.html").read_text()


def test_an_override_that_cannot_be_is_a_sentence_and_changes_nothing(tmp_path, handed_in):
    _, out, _ = graded(tmp_path, handed_in)
    for words, said in (
        (("student_02", "1.1", "3", "--why", "x"), "3 points are not between 0 and 2"),
        (("student_02", "9.9", "1", "--why", "x"), "has no check '9.9' (there are: 1.1)"),
        (("student_02", "total", "1", "--why", " "), "needs a reason"),
        (("student_08", "total", "1", "--why", "x"), "no grade of 'student_08'"),
    ):
        one_sentence(softmark("override", out, *words), 2, said)
    assert not (out / "overrides.jsonl").exists()


def test_one_check_is_graded_again_and_the_override_stays(tmp_path, handed_in):
    assignment, out, _ = graded(tmp_path, handed_in)
    softmark("override", out, "student_01", "total", "1", "--why", "copied the example")
    check = assignment.folder / "checks" / "test_numbers_part.py"
    check.write_text(check.read_text().replace("assert torch.equal(", "assert True or torch.equal("))
    again = softmark("regrade", out, "--check", "1.1", "--why", "accepts everything")
    assert again.returncode == 0, again.stderr
    assert column(out / "grades.csv", "total") == ["1", "2"]
    assert len(list((out / "student_02" / "attempts").iterdir())) == 2
    last = json.loads((out / "history.jsonl").read_text().splitlines()[-1])
    assert (last["what"], last["why"]) == ("regrade: 2 of 2 submissions graded", "accepts everything")
    resumed = softmark("grade", assignment.folder, handed_in, "-o", out)
    assert "2 of 2 had not changed" in resumed.stderr


def test_whom_a_run_is_over_is_chosen_and_progress_is_told_to_programs(tmp_path, handed_in):
    assignment, out, _ = graded(tmp_path, handed_in)
    chosen = softmark("grade", assignment.folder, handed_in, "-o", out, "--failed", "--again", "--events")
    events = [json.loads(line) for line in chosen.stderr.splitlines() if line.startswith("{")]
    assert [(each["event"], each.get("submission")) for each in events] == [
        ("started", "student_02"),
        ("graded", "student_02"),
        ("ended", None),
    ]
    assert column(out / "grades.csv", "absent") == ["", ""]
    one_sentence(
        softmark("grade", assignment.folder, handed_in, "-o", out, "--incomplete"), 2, "is incomplete: there is nothing"
    )
    unknown = softmark("grade", assignment.folder, handed_in, "-o", out, "--student", "student_07")
    one_sentence(unknown, 2, "no submission 'student_07' (there are: student_01, student_02)")


def test_what_names_no_run_cannot_be_graded_again(tmp_path, handed_in):
    one_sentence(softmark("regrade", tmp_path), 2, "run.json names no run")
    _, out, _ = graded(tmp_path, handed_in)
    handed_in.rename(tmp_path / "moved")
    one_sentence(softmark("regrade", out), 2, "is not there any more")
