"""`softmark case`: the script that it writes shows what the check saw."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from autograder.commands.case import case_command
from autograder.errors import SoftmarkError
from autograder.testing.cases import Cases
from tests.tiny import ONE_CHECK, tiny_assignment

LARGE = ONE_CHECK.replace("cases.tensor(3)", "cases.tensor(20, 5)")
COUNTER = """
@number("1.1")
@weight(2)
def test_counts(student):
    \"\"\"A counter counts on\"\"\"
    counter = student.Counter(5)
    assert counter.step(2) == 7, "not 7"
"""
WRONG = """
import torch
def double(x):
    return 3 * x
class Counter:
    def __init__(self, start):
        self.value = start
    def step(self, by=1):
        return self.value - by
"""


def written(tmp_path: Path, checks: str, source: str = WRONG) -> Path:
    tiny_assignment(tmp_path, checks)
    folder = tmp_path / "starter_code" / "tiny"
    folder.mkdir(parents=True)
    (folder / "numbers_part.py").write_text(source)
    assert case_command(folder, "1.1") == 0
    return folder / "case_1_1.py"


def output_of(script: Path) -> str:
    return subprocess.run(
        [sys.executable, script.name], cwd=script.parent, check=True, capture_output=True, text=True
    ).stdout


def test_it_runs_the_students_code_on_the_inputs_of_the_case(tmp_path: Path) -> None:
    script = written(tmp_path, ONE_CHECK)
    drawn = Cases(b"tiny-visible", "numbers_part.test_doubles").tensor(3)
    assert f"torch.tensor({drawn.tolist()})" in script.read_text()
    assert output_of(script).strip() == str(3 * drawn)


def test_large_tensors_lie_in_a_file_beside_it(tmp_path: Path) -> None:
    script = written(tmp_path, LARGE)
    assert script.with_suffix(".safetensors").exists() and len(script.read_text()) < 1_000
    assert output_of(script).startswith("tensor(")


def test_an_object_is_made_first(tmp_path: Path) -> None:
    assert output_of(written(tmp_path, COUNTER)).strip() == "3"


def test_a_check_that_passes_has_no_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny_assignment(tmp_path)
    folder = tmp_path / "starter_code" / "tiny"
    folder.mkdir(parents=True)
    (folder / "numbers_part.py").write_text("def double(x):\n    return 2 * x\n")
    assert case_command(folder, "1.1") == 1
    assert "1.1 passes: there is no case to write" in capsys.readouterr().out
    with pytest.raises(SoftmarkError, match=r"no check '9\.9' \(there are exercises 1\.1\)"):
        case_command(folder, "9.9")
