"""What stands at a path becomes submissions, and each of them a tree of files that a worker may see."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograder.errors import SoftmarkError, Unreadable
from autograder.intake.submission import SourceTree, Submission, Submitter, find_submissions, read_submission
from tests.intake.handins import SOFTMAX, assignment, hand_in, loaded, notebook, read, zipped


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
        hand_in(tmp_path, {"submission_metadata.yml": "--- {}"}, name)
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


def test_a_zip_is_read_from_whatever_folder_is_inside(tmp_path: Path) -> None:
    path = tmp_path / "student_01.zip"
    path.write_bytes(
        zipped({"hw 8/attention.py": SOFTMAX, "hw 8/helpers.py": "", "__MACOSX/hw 8/._attention.py": "\0"})
    )
    tree = read(path)
    assert (tree.files, tree.notes) == ({"attention.py": SOFTMAX.encode(), "helpers.py": b""}, ())


def test_a_zip_in_a_folder_or_zip_is_opened_where_nothing_else_could_be_graded(tmp_path: Path) -> None:
    inner = zipped({"attention.py": SOFTMAX})
    (tmp_path / "a.zip").write_bytes(zipped({"x/inner.zip": inner}))
    assert read(tmp_path / "a.zip").files == {"attention.py": SOFTMAX.encode()}
    assert read(hand_in(tmp_path, {"inner.zip": inner})).files == {"attention.py": SOFTMAX.encode()}


def test_only_a_folder_of_small_python_files_is_read_without_a_process_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forks: list[int] = []
    fork = os.fork
    monkeypatch.setattr(os, "fork", lambda: forks.append(1) or fork())
    assert read(hand_in(tmp_path, {"attention.py": SOFTMAX})).files and not forks
    for number, extra in enumerate(({"a.zip": b""}, {"n.ipynb": b"{}"}, {"big.py": b"#" * (1 << 20)}), 1):
        assert read(hand_in(tmp_path, {"attention.py": SOFTMAX, **extra}, f"student_1{number}")).files
        assert len(forks) == number


def test_zips_are_opened_one_level_deep(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(zipped({"b.zip": zipped({"c.zip": zipped({"attention.py": SOFTMAX})})}))
    with pytest.raises(Unreadable, match="holds no file that could be graded"):
        read(tmp_path / "a.zip")


def test_a_single_python_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "attention.py").write_bytes(b"\xef\xbb\xbf" + SOFTMAX.replace("\n", "\r\n").encode())
    tree = read(tmp_path / "attention.py")
    assert (tree.files, tree.notes) == ({"attention.py": SOFTMAX.encode()}, ())


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("a.rar", b"Rar!\x1a\x07", r"a\.rar is a RAR archive: hand in a \.zip"),
        ("a.docx", b"PK\x03\x04", r"a\.docx is neither \.py nor \.ipynb nor \.zip"),
        ("a.zip", b"Rar!\x1a\x07", r"a\.zip is a RAR archive, not a zip"),
        ("a.tar.gz", b"\x1f\x8b\x08", r"a\.tar\.gz is a gzip archive"),
    ],
)
def test_what_nobody_can_read_is_a_sentence(tmp_path: Path, name: str, data: bytes, sentence: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(Unreadable, match=sentence) as caught:
        read(tmp_path / name)
    assert caught.value.exit_code == 1


@pytest.mark.parametrize("name", [b"a\nb.ipynb", b"\xff.ipynb", b'"""\\N.ipynb', b"caf\xe9.py"])
def test_an_odd_name_of_a_file_spoils_nothing(tmp_path: Path, name: bytes) -> None:
    path = tmp_path / os.fsdecode(name)
    path.write_bytes(notebook(SOFTMAX))
    tree = read(path)
    assert loaded(tree)["softmax"](1, 2) == ("softmax", 1, 2)
    assert all(note.encode() for note in tree.notes)


def test_a_path_that_is_no_utf8_can_be_said(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"^\?.* is missing") as caught:
        read(tmp_path / os.fsdecode(b"\xff"))
    assert str(caught.value).encode()


def test_a_submission_that_is_a_link_is_refused(tmp_path: Path) -> None:
    home = hand_in(tmp_path, {"attention.py": SOFTMAX})
    (tmp_path / "student_02").symlink_to(home)
    with pytest.raises(Unreadable, match="student_02 is a symbolic link, which is not followed"):
        read(tmp_path / "student_02")


def test_a_tree_is_written_for_everyone_to_read_and_nobody_to_write(tmp_path: Path) -> None:
    tree = SourceTree(files={"attention.py": b"x", "a/b/c.json": b"{}"})
    before = os.umask(0o077)
    try:
        tree.write(tmp_path / "new")
    finally:
        os.umask(before)
    modes = {path.relative_to(tmp_path).as_posix(): path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert modes == {"new": 0o755, "new/attention.py": 0o644, "new/a": 0o755, "new/a/b": 0o755, "new/a/b/c.json": 0o644}
    assert (tmp_path / "new/a/b/c.json").read_bytes() == b"{}"


def test_writing_replaces_nothing_and_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "attention.py").symlink_to(tmp_path / "secret")
    with pytest.raises(FileExistsError):
        SourceTree(files={"attention.py": b"x"}).write(tmp_path)
    assert not (tmp_path / "secret").exists()


def test_a_digest_tells_contents_and_names_apart_and_not_order() -> None:
    trees = [{"a.py": b"x", "b.py": b""}, {"a.py": b"", "b.py": b"x"}, {"a.py": b"x"}, {"a.pyx": b""}, {}]
    assert len({SourceTree(files=files).digest for files in trees}) == len(trees)
    assert SourceTree(files={"b": b"", "a": b"x"}).digest == SourceTree(files={"a": b"x", "b": b""}).digest


def test_a_digest_changes_with_a_notebooks_code_and_not_with_its_outputs(tmp_path: Path) -> None:
    digests: list[str] = []
    for number, cells in enumerate(([SOFTMAX], [SOFTMAX, "print(1)"], [SOFTMAX.replace("'softmax'", "1")])):
        (tmp_path / f"{number}").mkdir()
        path = tmp_path / f"{number}" / "hw.ipynb"
        path.write_bytes(notebook(*cells))
        digests.append(read(path).digest)
    assert digests[0] == digests[1] != digests[2]


def test_a_member_that_is_a_file_and_a_folder_does_not_stop_the_writing(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(zipped({"attention.py": SOFTMAX, "attention.py/x.py": "", "b.py/x.py": "", "b.py": ""}))
    tree = read(path)
    tree.write(tmp_path / "tree")
    assert sorted(tree.files) == ["attention.py", "b.py"]


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


def test_a_folder_of_an_unknown_archive_names_it(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"^student_01 holds .*holds hw\.tar\.gz, which is no zip"):
        read(hand_in(tmp_path, {"hw.tar.gz": b"\x1f\x8b"}))


def test_a_zip_beside_code_that_says_the_same_or_is_damaged_spoils_nothing(tmp_path: Path) -> None:
    same = read(hand_in(tmp_path, {"attention.py": SOFTMAX, "hw.zip": zipped({"attention.py": SOFTMAX})}, "a"))
    assert (same.notes, same.staff) == ((), ())
    damaged = read(hand_in(tmp_path, {"attention.py": SOFTMAX, "hw.zip": b"PK"}, "b"))
    assert damaged.notes == ("hw.zip is no zip: make the zip anew and hand it in again.",)
