"""What stands at a path becomes submissions, and each of them a tree of files that a worker may see."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograder.errors import Unreadable
from autograder.intake.submission import SourceTree
from tests.intake.handins import SOFTMAX, hand_in, loaded, notebook, read, zipped


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


def test_a_folder_of_an_unknown_archive_names_it(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"^student_01 holds .*holds hw\.tar\.gz, which is not a zip"):
        read(hand_in(tmp_path, {"hw.tar.gz": b"\x1f\x8b"}))


def test_a_zip_beside_code_that_says_the_same_or_is_damaged_spoils_nothing(tmp_path: Path) -> None:
    same = read(hand_in(tmp_path, {"attention.py": SOFTMAX, "hw.zip": zipped({"attention.py": SOFTMAX})}, "a"))
    assert (same.notes, same.staff) == ((), ())
    damaged = read(hand_in(tmp_path, {"attention.py": SOFTMAX, "hw.zip": b"PK"}, "b"))
    assert damaged.notes == ("hw.zip is not a zip: make the zip anew and hand it in again.",)
