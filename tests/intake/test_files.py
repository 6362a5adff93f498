"""A folder is read within bounds: regular files, no links, nothing that no student wrote."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograder.errors import Unreadable
from autograder.intake import files
from autograder.intake.files import Collected, is_junk, read_file, read_folder
from tests.intake.handins import hand_in


def collect(folder: Path) -> Collected:
    collected = Collected(str(folder))
    read_folder(folder, collected)
    return collected


def test_files_that_could_matter_are_read_by_their_path(tmp_path: Path) -> None:
    home = hand_in(tmp_path, {"attention.py": "x", "a/b/more.JSON": "{}", "w.safetensors": b"\0", "plot.png": "p"})
    assert collect(home).files == {"attention.py": b"x", "a/b/more.JSON": b"{}", "w.safetensors": b"\0"}


@pytest.mark.parametrize(
    "name",
    [
        "__MACOSX/._attention.py",
        "._attention.py",
        ".ipynb_checkpoints/hw-checkpoint.ipynb",
        "__pycache__/attention.cpython-310.pyc",
        ".git/hooks/x.py",
        "venv/lib/site-packages/torch/x.py",
        "checks/test_attention.py",
        "hw8/checks/hidden/test_attention.py",
        "conftest.py",
        "sitecustomize.py",
        "~$attention.txt",
    ],
)
def test_what_no_student_wrote_is_passed_over(tmp_path: Path, name: str) -> None:
    assert is_junk(name)
    assert collect(hand_in(tmp_path, {name: "x", "attention.py": "y"})).files == {"attention.py": b"y"}


def test_a_virtual_environment_is_known_by_its_configuration(tmp_path: Path) -> None:
    home = hand_in(tmp_path, {"my_env/pyvenv.cfg": "", "my_env/lib/x.py": "x", "attention.py": "y"})
    assert collect(home).files == {"attention.py": b"y"}


def test_what_a_student_may_miss_is_remembered(tmp_path: Path) -> None:
    assert collect(hand_in(tmp_path, {"model.pt": b"x", "attention.py": "y", "plot.png": b""})).left_out == ["model.pt"]


@pytest.mark.parametrize("target", ["/etc/passwd", "missing", "."])
def test_a_link_is_refused_with_its_path(tmp_path: Path, target: str) -> None:
    home = hand_in(tmp_path, {"attention.py": "y"})
    (home / "link.py").symlink_to(target)
    with pytest.raises(Unreadable, match=r"link\.py is a symbolic link, which is not followed"):
        collect(home)


def test_a_link_in_a_virtual_environment_is_nothing(tmp_path: Path) -> None:
    home = hand_in(tmp_path, {"attention.py": "y", "venv/x": ""})
    (home / "venv" / "python").symlink_to("/usr/bin/python3")
    assert collect(home).files == {"attention.py": b"y"}


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    home = hand_in(tmp_path, {"tokens.py": "y"})
    os.mkfifo(home / "attention.py")
    with pytest.raises(Unreadable, match=r"attention\.py is not a regular file"):
        collect(home)


def test_a_name_that_cannot_be_shown_is_passed_over(tmp_path: Path) -> None:
    home = hand_in(tmp_path, {"attention.py": "y", "a\nb.py": "x"})
    Path(os.fsdecode(os.fsencode(home) + b"/\xff.py")).write_text("x")
    assert collect(home).files == {"attention.py": b"y"}


def test_decomposed_names_are_composed_as_python_does(tmp_path: Path) -> None:
    assert list(collect(hand_in(tmp_path, {"gro\u0308\u00dfe.py": "x"})).files) == ["gr\u00f6\u00dfe.py"]


def test_a_folder_that_goes_too_deep_is_not_followed_down(tmp_path: Path) -> None:
    deep = "/".join("d" * 1 for _ in range(40))
    assert collect(hand_in(tmp_path, {f"{deep}/x.py": "x", "attention.py": "y"})).files == {"attention.py": b"y"}


def test_too_many_files_are_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_FILES", 3)
    with pytest.raises(Unreadable, match="holds more than 3 files: hand in only your own"):
        collect(hand_in(tmp_path, {f"f{number}.py": "" for number in range(4)}))


def test_too_much_in_all_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST_TOTAL", 1 << 20)
    with pytest.raises(Unreadable, match="unpacks to more than 1 MB"):
        collect(hand_in(tmp_path, {f"{name}.json": b" " * (600 << 10) for name in "ab"}))


def test_one_file_that_is_too_large_is_left_out_and_named(tmp_path: Path) -> None:
    collected = collect(hand_in(tmp_path, {"attention.py": "y", "big.py": b" " * (5 << 20)}))
    assert list(collected.files) == ["attention.py"]
    assert collected.too_large == ["big.py (5 MB)"]


def test_a_file_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"gone\.py could not be read \(No such file or directory\)"):
        read_file(tmp_path / "gone.py", "gone.py")


def test_a_folder_that_may_not_be_listed_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Unreadable, match=r"could not be read \(Not a directory\): make it readable"):
        collect(tmp_path / "file")
