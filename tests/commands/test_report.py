"""What is handed out: pages under the names that a platform takes back, for each person, with what staff decided."""

from __future__ import annotations

import csv
import shutil
import zipfile
from pathlib import Path

import msgspec
import pytest

from autograder.commands.report import feedback_command, report_command
from autograder.errors import SoftmarkError
from autograder.results import Submitter
from autograder.run import written
from autograder.run.overrides import OVERRIDES, append_line
from autograder.run.written import Run, note_run
from tests.report.grades import grade, passed
from tests.run.test_overrides import over


def graded(out: Path, *people: tuple[str, Submitter]) -> None:
    for name, who in people:
        written.write(out, msgspec.structs.replace(grade(passed(), submission=name), submitters=(who,)))


def test_a_folder_has_a_page_a_submission_and_a_list_for_mails(tmp_path: Path) -> None:
    graded(tmp_path, ("a b", Submitter(name="=A", sid="0222", email="a@x.edu")), ("c", Submitter(name="C")))
    append_line(tmp_path / OVERRIDES, over(grade(submission="c"), "total", 21, "on paper"))
    assert feedback_command(tmp_path, "folder") == 0
    assert sorted(path.name for path in (tmp_path / "feedback").iterdir()) == ["a b.html", "c.html", "mail.csv"]
    with open(tmp_path / "feedback" / "mail.csv", encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert (rows[0]["name"], rows[0]["sid"], rows[0]["file"]) == ("'=A", "0222", "a b.html")
    assert rows[1]["total"] == "21"
    assert "on paper" in (tmp_path / "feedback" / "c.html").read_text()


def test_moodle_finds_the_participant_in_a_files_name(tmp_path: Path) -> None:
    graded(
        tmp_path,
        ("a", Submitter(name="Jane Doe", id="moodle:501")),
        ("b", Submitter(id="moodle:502")),
        ("c", Submitter()),
    )
    assert feedback_command(tmp_path, "moodle") == 1
    with zipfile.ZipFile(tmp_path / "feedback-moodle.zip") as archive:
        assert archive.namelist() == [
            "Jane Doe_501_assignsubmission_file_feedback.html",
            "Participant_502_assignsubmission_file_feedback.html",
        ]


def test_canvas_finds_the_hand_in_by_the_two_numbers_of_its_file(tmp_path: Path) -> None:
    download = tmp_path / "download"
    download.mkdir()
    for name in ("doejane_LATE_4021_99001_attention-1.py", "doejane_LATE_4021_99002_x.py", "bergmax_4022_text.html"):
        (download / name).touch()
    out = tmp_path / "out"
    graded(out, ("a", Submitter(name="doejane", id="canvas:4021")))
    note_run(out, Run(assignment="08_transformers", names=("a",), hand_ins=str(download)))
    assert feedback_command(out, "canvas") == 0
    with zipfile.ZipFile(out / "feedback-canvas.zip") as archive:
        assert archive.namelist() == ["doejane_LATE_4021_99001_feedback.html"]


def test_what_was_not_a_download_cannot_go_back(tmp_path: Path) -> None:
    graded(tmp_path, ("a", Submitter(name="A")))
    with pytest.raises(SoftmarkError, match="was not graded from a download of moodle: use --format folder"):
        feedback_command(tmp_path, "moodle")


def test_the_report_links_to_a_page_for_staff_and_has_none_without_names(tmp_path: Path) -> None:
    graded(tmp_path, ("a b", Submitter(name="A")))
    report_command(tmp_path, anonymous=False)
    report_command(tmp_path, anonymous=True)
    assert 'href="report/a%20b.html"' in (tmp_path / "report.html").read_text()
    assert "For staff" in (tmp_path / "report" / "a b.html").read_text()
    assert "For staff" not in (tmp_path / "a b" / "feedback.html").read_text()
    assert "a b" not in (tmp_path / "report-anonymous.html").read_text()


@pytest.mark.parametrize("inside", ["hw8", "hw8/again"])
def test_canvas_finds_it_in_a_download_with_a_folder_around_it_and_says_where_that_is_gone(
    inside: str, tmp_path: Path
) -> None:
    out, hand_ins = tmp_path / "out", tmp_path / "down"
    (hand_ins / inside).mkdir(parents=True)
    (hand_ins / inside / "doejane_4021_99001_attention-1.py").touch()
    (hand_ins / inside / "roe_4022_99002_attention.py").touch()
    graded(out, ("a", Submitter(name="doejane", id="canvas:4021")))
    note_run(out, Run(assignment="08_transformers", names=("a",), hand_ins=str(hand_ins)))
    assert feedback_command(out, "canvas") == 0
    with zipfile.ZipFile(out / "feedback-canvas.zip") as archive:
        assert archive.namelist() == ["doejane_4021_99001_feedback.html"]
    shutil.rmtree(hand_ins)
    with pytest.raises(SoftmarkError, match=r"down, which .* was graded from, is not there any more"):
        feedback_command(out, "canvas")
