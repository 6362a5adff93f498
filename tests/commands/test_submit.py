"""`softmark submit`: the zip, the receipt, and that what is graded is what was checked."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.commands.submit import submit_command
from autograder.errors import SoftmarkError
from tests.commands.test_check import RIGHT, starter


def test_the_receipt_names_files_hash_and_points(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = starter(tmp_path, RIGHT + "\nclass Counter: ...\n", points=5.5)
    (folder / "scratch.py").write_text("")
    out = tmp_path / "submission.zip"
    assert submit_command(folder, out) == 0
    printed = capsys.readouterr()
    assert zipfile.ZipFile(out).namelist() == ["numbers_part.py"]
    said = printed.out.split("written:")[1]
    assert hashlib.sha256(out.read_bytes()).hexdigest() in said and "left out scratch.py" in said
    assert "visible checks: 2 of 2 points; hidden checks: 3.5 points" in said and "UTC" in said
    assert printed.err == ""


def test_the_same_files_give_the_same_zip(tmp_path: Path) -> None:
    folder = starter(tmp_path, RIGHT)
    for name in ("one.zip", "two.zip"):
        submit_command(folder, tmp_path / name)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_what_would_go_wrong_is_said_and_the_zip_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = starter(tmp_path, "def double(x):\n    return x.cuda()\n")
    assert submit_command(folder, tmp_path / "s.zip") == 0
    printed = capsys.readouterr()
    assert "warning: numbers_part.py, line 2: .cuda() needs a GPU" in printed.err
    assert "warning: numbers_part.py does not define Counter" in printed.err
    assert "visible checks: 0 of 2 points" in printed.out


def test_without_a_file_there_is_nothing_to_hand_in(tmp_path: Path) -> None:
    folder = starter(tmp_path, RIGHT)
    (folder / "numbers_part.py").unlink()
    with pytest.raises(SoftmarkError, match=r"has none of numbers_part\.py"):
        submit_command(folder, tmp_path / "s.zip")


def test_on_systems_without_fork_it_hands_in_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = starter(tmp_path, RIGHT)
    submit_command(folder, tmp_path / "here.zip")
    monkeypatch.setattr("autograder.commands.check.profile", lambda: "elsewhere")
    monkeypatch.setattr("autograder.intake.limited.sys", SimpleNamespace(platform="darwin"))
    assert submit_command(folder, tmp_path / "there.zip") == 0
    assert (tmp_path / "here.zip").read_bytes() == (tmp_path / "there.zip").read_bytes()
