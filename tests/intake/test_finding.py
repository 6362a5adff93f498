"""What stands at a path becomes submissions: one hand-in, a folder of them, or an export with its list."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograder.errors import SoftmarkError, Unreadable
from autograder.intake.finding import find_submissions
from autograder.intake.submission import Submission, Submitter, read_submission
from tests.intake.handins import ATTEND, ATTENTION, SOFTMAX, TOKENS, assignment, hand_in, notebook, read, zipped

RIGHT = SOFTMAX + ATTEND
LISTS_ONE = "submission_1:\n  :submitters:\n  - :name: A\n"


def found(path: Path) -> list[str]:
    return [submission.name for submission in find_submissions(path, assignment(path))]


def test_a_folder_with_a_parts_file_is_one_submission(tmp_path: Path) -> None:
    home = hand_in(tmp_path, {"attention.py": SOFTMAX, "sub/x.py": ""}, "student.07")
    assert find_submissions(home, assignment(tmp_path)) == [Submission(name="student.07", path=home.resolve())]


@pytest.mark.parametrize("name", ["student_01.py", "student_01.ipynb", "student_01.zip"])
def test_a_file_is_one_submission(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    assert found(tmp_path / name) == ["student_01"]


def test_a_folder_of_submissions_is_found_by_name_whatever_they_are(tmp_path: Path) -> None:
    for name in (
        "student_02.zip",
        "student_03.py",
        "student_04.ipynb",
        "student_05.rar",
        "student_07.ipynb.txt",
        "expected.toml",
        "README.md",
    ):
        (tmp_path / name).touch()
    for name in ("student_01", "student_06", ".git", "__MACOSX"):
        (tmp_path / name).mkdir()
    assert found(tmp_path) == [*(f"student_0{number}" for number in range(1, 7)), "student_07.ipynb"]


def test_two_submissions_never_share_a_name(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name in ("a.py", "a.zip", "b*.py", "b?.py"):
        (tmp_path / name).touch()
    assert found(tmp_path) == ["a", "a.py", "a.zip", "b_.py", "b_.py_2"]


def test_whose_name_is_plain_keeps_it_beside_one_that_becomes_the_same(tmp_path: Path) -> None:
    for name in (" student_02", "student_02", " student_03"):
        (tmp_path / name).mkdir()
    (tmp_path / "student_03.zip").touch()
    names = {each.path.name: each.name for each in find_submissions(tmp_path, assignment(tmp_path))}
    assert (names["student_02"], names["student_03.zip"]) == ("student_02", "student_03")
    assert len(set(names.values())) == 4


def test_a_folder_that_a_list_has_forgotten_takes_no_name_from_it(tmp_path: Path) -> None:
    for name in ("submission_1", " submission_1"):
        (tmp_path / name).mkdir()
    (tmp_path / "submission_metadata.yml").write_text("submission_1:\n  :submitters:\n  - :name: A\n")
    names = {each.path.name: each.name for each in find_submissions(tmp_path, assignment(tmp_path))}
    assert names == {"submission_1": "submission_1", " submission_1": "submission_1_2"}


def test_a_name_is_safe_as_a_folders(tmp_path: Path) -> None:
    for name in ("Übung 8 – 変換器", "a\nb\x1b[31m", "-rf; $(x)", "n" * 200):
        (tmp_path / name).mkdir()
    assert found(tmp_path) == [
        "-rf; $(x)".replace(";", "_").replace("$", "_"),
        "a_b__31m",
        "n" * 100,
        "Übung 8 _ 変換器",
    ]


def test_a_path_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SoftmarkError, match=r"There is no .*nowhere: give a submission") as caught:
        found(tmp_path / "nowhere")
    assert caught.value.exit_code == 2


def test_a_folder_without_submissions_is_a_sentence(tmp_path: Path) -> None:
    for name in (".DS_Store", "desktop.ini", "Thumbs.db", "README.txt", "a.csv", "a.yml", "a.log", ".x"):
        (tmp_path / name).touch()
    with pytest.raises(SoftmarkError, match="holds no submission"):
        found(tmp_path)


def test_an_export_gives_submitters_as_well(tmp_path: Path) -> None:
    hand_in(tmp_path, {"attention.py": SOFTMAX}, "submission_2")
    hand_in(tmp_path, {"attention.py": SOFTMAX}, "submission_3")
    (tmp_path / "submission_metadata.yml").write_text(
        "submission_2:\n  :submitters:\n  - :name: A\n    :sid: 0222\n  :created_at: 2026-04-26\n"
        "...\nsubmission_1:\n  :submitters:\n  - :name: B\n...\nsubmission_4:\n  :submitters: []\n"
    )
    submissions = find_submissions(tmp_path, assignment(tmp_path))
    assert submissions == [
        Submission(name="submission_1", path=tmp_path / "submission_1", submitters=(Submitter(name="B"),)),
        Submission(
            name="submission_2",
            path=tmp_path / "submission_2",
            submitters=(Submitter(name="A", sid="0222"),),
            created_at="2026-04-26",
        ),
        Submission(name="submission_3", path=tmp_path / "submission_3"),
    ]
    with pytest.raises(Unreadable, match="submission_1 is missing, though it is listed"):
        read_submission(submissions[0], assignment(tmp_path))


def test_a_folder_of_several_exports_is_a_sentence(tmp_path: Path) -> None:
    for name in ("assignment_1_export", "assignment_2_export"):
        hand_in(tmp_path, {"submission_metadata.yml": LISTS_ONE, "submission_1/a.py": RIGHT}, name)
    with pytest.raises(
        SoftmarkError, match="holds several exports: give one of assignment_1_export, assignment_2_export"
    ):
        found(tmp_path)


def test_an_export_that_was_not_unpacked_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "assignment_1_export.zip"
    path.write_bytes(
        zipped({"assignment_1_export/submission_metadata.yml": "", "assignment_1_export/submission_1/a.py": ""})
    )
    with pytest.raises(SoftmarkError, match=r"assignment_1_export\.zip is a whole export: unpack it"):
        found(path)


@pytest.mark.parametrize("name", ["doe.txt", "doe", "doe.json", "doe.pages"])
def test_a_loose_file_of_an_unknown_kind_does_not_vanish(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(SOFTMAX)
    (tmp_path / "student_01.py").write_text(SOFTMAX)
    assert found(tmp_path) == ["doe", "student_01"]
    with pytest.raises(Unreadable, match=rf"^{name} is neither \.py nor \.ipynb nor \.zip"):
        read(tmp_path / name)


def test_a_folder_that_may_not_be_read_is_one_submission_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("student_01", "student_02"):
        hand_in(tmp_path, {"attention.py": SOFTMAX}, name)
    closed, scan, status = tmp_path / "student_01", os.scandir, os.stat

    def refuse(path: object) -> None:
        if str(path).startswith(f"{closed}/"):
            raise PermissionError(13, "Permission denied", str(path))

    def closed_stat(path: str, **options: bool) -> os.stat_result:
        refuse(path)
        return status(path, **options)

    def closed_scan(path: Path) -> object:
        refuse(f"{path}/")
        return scan(path)

    monkeypatch.setattr(os, "stat", closed_stat)  # root, who may run the tests, may read everything
    monkeypatch.setattr(os, "scandir", closed_scan)
    assert found(tmp_path) == ["student_01", "student_02"]
    with pytest.raises(Unreadable, match=r"^student_01 could not be read \(Permission denied\)"):
        read(closed)
    assert read(tmp_path / "student_02").notes == ()


def found_with_notes(path: Path) -> dict[str, tuple[str, ...]]:
    return {each.name: each.staff for each in find_submissions(path, assignment(path))}


def class_of(folder: Path, **files: str | bytes) -> Path:
    """Two hand-ins, and files beside them."""
    for name in ("student_01", "student_02"):
        hand_in(folder, {"attention.py": RIGHT}, name)
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


@pytest.mark.parametrize("content", ["hello", "", LISTS_ONE, "- [", "x" * 1_000_000])
@pytest.mark.parametrize("beside", ["attention.py", "hw.ipynb"])
def test_a_list_in_one_hand_in_stops_nobody_and_names_nobody(tmp_path: Path, content: str, beside: str) -> None:
    hand_in(tmp_path, {"submission_metadata.yml": content, beside: RIGHT}, "student_03")
    note = "ambiguous: submission_metadata.yml in this hand-in was taken for a file of the student's and not read."
    assert found_with_notes(tmp_path) == {"student_03": (note,)}
    assert found_with_notes(class_of(tmp_path)) == {"student_01": (), "student_02": (), "student_03": (note,)}


def test_a_forged_export_in_one_hand_in_is_one_hand_in(tmp_path: Path) -> None:
    hand_in(tmp_path, {"submission_metadata.yml": LISTS_ONE, "submission_1/attention.py": RIGHT}, "student_03")
    submissions = find_submissions(class_of(tmp_path), assignment(tmp_path))
    assert [(each.name, each.submitters) for each in submissions] == [(f"student_0{n}", ()) for n in (1, 2, 3)]


def test_a_list_that_is_a_link_or_a_folder_is_none(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(LISTS_ONE)
    home = hand_in(tmp_path, {"attention.py": RIGHT, "submission_metadata.yaml/x.py": ""}, "student_03")
    (home / "submission_metadata.yml").symlink_to(tmp_path / "secret")
    (submission,) = find_submissions(home, assignment(tmp_path))
    assert submission.submitters == ()
    assert [note.split()[1] for note in submission.staff] == ["submission_metadata.yml", "submission_metadata.yaml"]


def test_an_export_is_known_one_folder_down_where_it_is_the_only_thing(tmp_path: Path) -> None:
    export = tmp_path / "assignment_1_export"
    hand_in(tmp_path, {"submission_metadata.yml": LISTS_ONE, "submission_1/attention.py": RIGHT}, export.name)
    (tmp_path / "README.md").touch()
    (tmp_path / "assignment_1_export.zip").write_bytes(zipped({"submission_metadata.yml": ""}))
    (submission,) = find_submissions(tmp_path, assignment(tmp_path))
    assert submission.submitters == (Submitter(name="A"),)
    (tmp_path / "student_02.zip").touch()
    assert found(tmp_path) == ["assignment_1_export", "assignment_1_export.zip", "student_02"]


def test_a_part_that_lies_loose_in_an_export_is_one_of_its_hand_ins(tmp_path: Path) -> None:
    export = hand_in(tmp_path, {"submission_1/attention.py": RIGHT, "attention.py": RIGHT}, "export")
    (export / "submission_metadata.yml").write_text(LISTS_ONE)
    note = "ambiguous: attention.py lies loose among the hand-ins and was graded as one of them."
    assert found_with_notes(export) == {"attention": (note,), "submission_1": ()}


def test_a_part_that_lies_loose_among_hand_ins_is_one_of_them(tmp_path: Path) -> None:
    note = "ambiguous: attention.py lies loose among the hand-ins and was graded as one of them."
    among = class_of(tmp_path, attention_dot_py=RIGHT, roster_dot_xlsx="", README_dot_txt="", empty_dot_yml="")
    assert found_with_notes(among) == {"attention": (note,), "student_01": (), "student_02": ()}


def test_packed_hand_ins_beside_a_loose_part_are_hand_ins(tmp_path: Path) -> None:
    for name in ("student_01.zip", "student_02.zip"):
        (tmp_path / name).write_bytes(zipped({"hw/attention.py": RIGHT}))
    (tmp_path / "attention.py").write_text(RIGHT)
    assert found(tmp_path) == ["attention", "student_01", "student_02"]


@pytest.mark.parametrize(
    "others",
    [("student_01/attention.py",), ("student_01/hw/attention.py",), ("a.py", "b.py", "c.ipynb")],
    ids=["a folder", "a folder in it", "files"],
)
def test_a_part_beside_other_work_is_refused_where_nobody_can_tell(tmp_path: Path, others: tuple[str, ...]) -> None:
    home = hand_in(tmp_path, {"attention.py": RIGHT, **dict.fromkeys(others, RIGHT)}, "handed_in")
    with pytest.raises(
        SoftmarkError, match=r"handed_in holds attention\.py and (student_01|a\.py), .*zip all"
    ) as caught:
        found(home)
    assert caught.value.exit_code == 2


def test_folders_without_a_part_and_one_more_version_belong_to_the_hand_in(tmp_path: Path) -> None:
    files = {
        "attention.py": RIGHT,
        "tools/x.py": "y = 1",
        "checks/attention.py": RIGHT,
        "old.py": RIGHT,
        "d.zip": b"PK",
    }
    assert found(hand_in(tmp_path, files, "student_01")) == ["student_01"]


PIECES: dict[str, dict[str, str | bytes]] = {
    "a notebook": {"hw8.ipynb": notebook(RIGHT), "report.pdf": "x", "plots/a.png": "x"},
    "a zip": {"hw8.zip": zipped({"attention.py": RIGHT}), "README.md": ""},
    "a renamed file": {"mine.py": RIGHT},
    "a file and what it imports": {"mine.py": f"from tools import x\n{RIGHT}", "tools.py": "x = 1"},
    "files called like parts": {"attention_v2.py": RIGHT, "my tokens.py": "def encode(x): ...\ndef decode(x): ..."},
    "a folder within": {"HW 8/attention.py": RIGHT, "data/a.json": "{}"},
    "a folder a part": {"attention/attention.py": RIGHT, "part1/tokens.py": "", "README": ""},
}


@pytest.mark.parametrize("files", PIECES.values(), ids=PIECES.keys())
def test_a_hand_in_that_was_named_is_called_by_its_own_name(
    tmp_path: Path, files: dict[str, str | bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = hand_in(tmp_path, files, "student_07")
    one = [Submission(name="student_07", path=home)]
    assert find_submissions(home, assignment(tmp_path, TOKENS, ATTENTION)) == one
    monkeypatch.chdir(home)
    for path in (".", "../student_07", "../student_07/"):
        assert find_submissions(path, assignment(tmp_path, TOKENS, ATTENTION)) == one


SEVERAL: dict[str, dict[str, str | bytes]] = {
    "two of one part": {"student_01.py": RIGHT, "student_02.py": RIGHT},
    "one is broken": {"student_01.py": RIGHT, "student_02.py": "??"},
    "different parts": {"student_01.py": RIGHT, "student_02.py": "def encode(x): ...\ndef decode(x): ..."},
    "one is an archive": {"student_01.py": RIGHT, "student_02.rar": "x"},
    "one is empty": {"student_01/attention.py": RIGHT, "student_02/README": ""},
}


@pytest.mark.parametrize("files", SEVERAL.values(), ids=SEVERAL.keys())
def test_hand_ins_are_not_taken_for_pieces_of_one(tmp_path: Path, files: dict[str, str | bytes]) -> None:
    home = hand_in(tmp_path, files, "handed_in")
    names = [each.name for each in find_submissions(home, assignment(tmp_path, TOKENS, ATTENTION))]
    assert names == ["student_01", "student_02"]


def test_a_list_of_other_folders_is_a_sentence(tmp_path: Path) -> None:
    (class_of(tmp_path) / "submission_metadata.yml").write_text(LISTS_ONE)
    with pytest.raises(SoftmarkError, match="lists submission_1 and 0 more, and no folder of these lies beside it"):
        found(tmp_path)


def test_an_empty_list_beside_hand_ins_changes_nothing(tmp_path: Path) -> None:
    assert found(class_of(tmp_path, submission_metadata_dot_yml="")) == ["student_01", "student_02"]


def test_two_lists_are_a_sentence(tmp_path: Path) -> None:
    both = class_of(tmp_path, submission_metadata_dot_yml=LISTS_ONE, submission_metadata_dot_yaml=LISTS_ONE)
    with pytest.raises(SoftmarkError, match=r"holds both submission_metadata\.yml and submission_metadata\.yaml"):
        found(both)


def test_names_that_look_the_same_are_told_apart(tmp_path: Path) -> None:
    for name in ("gr\u00fcn", "gru\u0308n", "submission_metadata.yml", "grades.csv"):
        hand_in(tmp_path, {"attention.py": RIGHT}, name)
    assert sorted(found(tmp_path)) == ["gr\u00fcn", "gr\u00fcn_2", "submission", "submission_metadata.yml"]


def test_a_name_fits_into_a_folder_and_takes_no_place_of_ours(tmp_path: Path) -> None:
    for name in ("\u5909" * 80, "run.json", "Grades.CSV"):
        hand_in(tmp_path, {"attention.py": RIGHT}, name)
    names = found(tmp_path)
    assert max(len(name.encode()) for name in names) <= 200
    assert sorted(names)[:2] == ["submission", "submission_2"]


def test_a_link_that_is_no_code_is_passed_over(tmp_path: Path) -> None:
    home = hand_in(tmp_path, {"attention.py": RIGHT})
    (home / "notes.yml").symlink_to("/etc/passwd")
    assert read(home).files == {"attention.py": RIGHT.encode()}
