"""What platforms hand out for a whole class is recognised by its names, and each person keeps their own files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograder.errors import SoftmarkError
from autograder.intake.downloads import LATE
from autograder.intake.finding import Found, find
from autograder.intake.submission import Submitter, read_submission
from tests.intake.handins import ATTEND, SOFTMAX, assignment, notebook, zipped

RIGHT = SOFTMAX + ATTEND


def lay(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def people(found: Found) -> dict[str, tuple[Submitter, ...]]:
    return {each.name: each.submitters for each in found.submissions}


def trees(found: Found, path: Path) -> dict[str, list[str]]:
    of = assignment(path)
    return {each.name: sorted(read_submission(each, of).files) for each in found.submissions}


CANVAS: dict[str, str | bytes] = {
    "doejane_LATE_4021_99001_attention-1.py": RIGHT,
    "doejane_LATE_4021_99002_my_helper-2.py": "x = 1",
    "doejane_LATE_4021_99005_settings-1.json": "{}",
    "vandenberg_4022_99003_hw_8_2.zip": zipped({"attention.py": RIGHT}),
    "straßermarie_4023_99004_a.ipynb": notebook(RIGHT),
    "straßermarie_4023_text.html": "<p>see the notebook</p>",
}


@pytest.mark.parametrize("packed", [False, True])
def test_canvas_gives_the_flat_files_of_each_student_under_their_own_names(tmp_path: Path, packed: bool) -> None:
    if packed:
        (tmp_path / "submissions.zip").write_bytes(zipped(CANVAS))
    found = find(tmp_path / "submissions.zip" if packed else lay(tmp_path / "down", CANVAS), assignment(tmp_path))
    assert (found.form, found.unmatched) == ("a Canvas download", ())
    assert people(found) == {
        "doejane_4021": (Submitter(name="doejane", id="canvas:4021"),),
        "straßermarie_4023": (Submitter(name="straßermarie", id="canvas:4023"),),
        "vandenberg_4022": (Submitter(name="vandenberg", id="canvas:4022"),),
    }
    assert trees(found, tmp_path) == {
        "doejane_4021": ["attention.py", "my_helper.py", "settings-1.json", "settings.json"],
        "straßermarie_4023": ["attention.py"],
        "vandenberg_4022": ["attention.py"],
    }
    assert [each.staff for each in found.submissions] == [(LATE,), (), ()]


@pytest.mark.parametrize("packed", [False, True])
def test_a_download_is_known_where_it_is_the_only_thing_in_a_folder(tmp_path: Path, packed: bool) -> None:
    lay(tmp_path / "outer", {"submissions.zip": zipped(CANVAS)} if packed else {f"s/{k}": v for k, v in CANVAS.items()})
    found = find(tmp_path / "outer", assignment(tmp_path))
    assert (found.form, len(found.submissions)) == ("a Canvas download", 3)


def test_a_file_of_nobody_in_a_canvas_download_is_graded_and_listed(tmp_path: Path) -> None:
    found = find(lay(tmp_path / "down", {**CANVAS, "attention_final.py": RIGHT}), assignment(tmp_path))
    assert found.unmatched == ("attention_final",)
    assert "attention_final" in people(found)


def test_anonymous_canvas_hand_ins_are_told_apart(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"anon_a1b2_11_attention.py": RIGHT, "anon_c3d4_12_attention.py": RIGHT}
    assert list(people(find(lay(tmp_path / "down", files), assignment(tmp_path)))) == ["anon_a1b2", "anon_c3d4"]


@pytest.mark.parametrize(
    "names",
    [
        ["hw_8_1_anna.py", "hw_8_2_bert.py"],
        ["student_01_1_attention.py", "student_02_2_attention.py"],
        ["hw_1_1_anna.py", "hw_1_2_bert.py", "hw_2_1_cleo.py"],
        ["anna_1_1_x.py", "bert_2_1_x.py"],
        ["student_01_final.py", "student_02.py", "doe_12_34_x.py"],
    ],
)
def test_names_that_only_look_like_canvas_stay_one_hand_in_each(tmp_path: Path, names: list[str]) -> None:
    found = find(lay(tmp_path / "down", dict.fromkeys(names, RIGHT)), assignment(tmp_path))
    assert (found.form, len(found.submissions)) == ("a folder of submissions", len(names))


MOODLE_FOLDERS: dict[str, str | bytes] = {
    "Jane van der Doe_501_assignsubmission_file/sub/attention.py": RIGHT,
    "Jane van der Doe_501_assignsubmission_onlinetext/onlinetext.html": "<p>hello</p>",
    "Participant_502_assignsubmission_file_/attention.py": RIGHT,
}
MOODLE_FLAT: dict[str, str | bytes] = {
    "Jane van der Doe_501_assignsubmission_file_attention.py": RIGHT,
    "Jane van der Doe_501_assignsubmission_file_my_helper.py": "x = 1",
    "Participant_502_assignsubmission_file_hw.zip": zipped({"attention.py": RIGHT}),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("files", [MOODLE_FOLDERS, MOODLE_FLAT], ids=["folders", "flat"])
def test_moodle_gives_a_hand_in_a_participant(tmp_path: Path, files: dict[str, str | bytes], packed: bool) -> None:
    if packed:
        (tmp_path / "hw8.zip").write_bytes(zipped(files))
    found = find(tmp_path / "hw8.zip" if packed else lay(tmp_path / "down", files), assignment(tmp_path))
    assert found.form == "a Moodle download"
    assert people(found) == {
        "502": (Submitter(id="moodle:502"),),
        "Jane van der Doe_501": (Submitter(name="Jane van der Doe", id="moodle:501"),),
    }
    assert all("attention.py" in files for files in trees(found, tmp_path).values())


def test_nbgrader_gives_a_hand_in_a_student_with_its_time(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "submitted/0222/08/hw.ipynb": notebook(RIGHT),
        "submitted/0222/08/timestamp.txt": "2026-04-26 17:34:00.861687 UTC\n",
        "submitted/0333/07/hw.ipynb": notebook(RIGHT),
        "submitted/0444/08/hw.ipynb": notebook(RIGHT),
        "source/08/hw.ipynb": "{}",
    }
    course = lay(tmp_path / "course", files)
    for path in (course, course / "submitted"):
        found = find(path, assignment(tmp_path))
        assert people(found) == {"0222": (Submitter(sid="0222"),), "0444": (Submitter(sid="0444"),)}
        assert [each.created_at for each in found.submissions] == ["2026-04-26 17:34:00.861687 UTC", ""]
    for student in ("0222", "0444"):
        (course / "submitted" / student / "08").rename(course / "submitted" / student / "06")
    with pytest.raises(SoftmarkError, match=r"holds hand-ins of 06, 07, and none is called 08: rename"):
        find(course, assignment(tmp_path))


@pytest.mark.parametrize("folder", ["hw8-submissions", "clones"])
def test_classroom_clones_are_their_logins(tmp_path: Path, folder: str) -> None:
    logins = ("octo-cat", "octo-dog", "zed")
    files = {f"hw8-{login}/{file}": RIGHT for login in logins for file in (".git/HEAD", "attention.py")}
    found = find(lay(tmp_path / folder, dict(files)), assignment(tmp_path))
    assert found.form == "GitHub Classroom clones of hw8"
    assert people(found) == {f"hw8-{login}": (Submitter(id=f"github:{login}"),) for login in logins}


def test_a_packed_download_that_leads_out_of_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "hw8.zip").write_bytes(zipped({**MOODLE_FLAT, "A_1_assignsubmission_file_/../../x.py": ""}))
    with pytest.raises(SoftmarkError, match="leads out of it"):
        find(tmp_path / "hw8.zip", assignment(tmp_path))


def test_a_file_that_a_student_called_like_anothers_stays_their_own(tmp_path: Path) -> None:
    theirs = "Zoe Mean_12345_assignsubmission_file_z_67890_assignsubmission_file_attention.py"
    files: dict[str, str | bytes] = {"Bob Smith_67890_assignsubmission_file_attention.py": RIGHT, theirs: "x = 1"}
    found = find(lay(tmp_path / "down", files), assignment(tmp_path))
    names = {who.id: who.name for each in found.submissions for who in each.submitters}
    assert names == {"moodle:67890": "Bob Smith", "moodle:12345": "Zoe Mean"}


def test_a_name_that_no_file_can_have_costs_nobody_else_anything(tmp_path: Path) -> None:
    files = {
        "Ann Lee_111_assignsubmission_file_attention.py": RIGHT,
        f"Dora Long_777_assignsubmission_file_{'x' * 240}.py": RIGHT,
        "Ed Poe_778_assignsubmission_file_/a.py": RIGHT,
        "Ed Poe_778_assignsubmission_file_/a.py/b.py": RIGHT,
    }
    (tmp_path / "class.zip").write_bytes(zipped(files))
    found = find(tmp_path / "class.zip", assignment(tmp_path))
    ids = sorted(who.id for each in found.submissions for who in each.submitters)
    assert ids == ["moodle:111", "moodle:777", "moodle:778"]


@pytest.mark.parametrize("name", ["timestamp.txt", "attention.py"])
def test_a_pipe_among_a_students_files_stops_nobody(tmp_path: Path, name: str) -> None:
    submitted = lay(tmp_path / "submitted", {f"{who}/hw8/attention.py": RIGHT for who in ("ann", "cem")})
    (submitted / "bob" / "hw8").mkdir(parents=True)
    os.mkfifo(submitted / "bob" / "hw8" / name)
    of = assignment(tmp_path)
    found = find(submitted, of)
    assert {"ann", "cem"} <= {each.name for each in found.submissions}


@pytest.mark.parametrize("around", ["hw8/", "hw8/again/"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("files", [CANVAS, MOODLE_FOLDERS, MOODLE_FLAT], ids=["canvas", "folders", "flat"])
def test_a_download_that_somebody_packed_again_is_the_same_class(
    tmp_path: Path, files: dict[str, str | bytes], packed: bool, around: str
) -> None:
    again: dict[str, str | bytes] = {f"{around}{name}": content for name, content in files.items()}
    again |= {f"__MACOSX/{around}._{name}": b"\0" for name in files} | {f"{around}.DS_Store": b"\0", ".DS_Store": b""}
    if packed:
        (tmp_path / "again.zip").write_bytes(zipped(again))
    found = find(tmp_path / "again.zip" if packed else lay(tmp_path / "again", again), assignment(tmp_path))
    plain = find(lay(tmp_path / "plain", files), assignment(tmp_path))
    assert found.form == plain.form and people(found) == people(plain)
    assert trees(found, tmp_path) == trees(plain, tmp_path)
