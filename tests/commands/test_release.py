"""The bundle: what is in it, what is not, and that its checks run without the project."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autograder.assignment.assignment import Assignment
from autograder.assignment.bank import bank
from autograder.commands.check import Wish, check_command
from autograder.commands.release import release_command
from autograder.commands.validate import validate_assignment
from autograder.errors import SoftmarkError
from tests.tiny import REFERENCE, tiny_assignment

HIDDEN = """
@number("1.2")
@weight(3)
@visibility("hidden")
def test_doubles_what_is_negative(student, reference, cases):
    \"\"\"Negative numbers are doubled, too\"\"\"
    x = -cases.uniform(3, low=0.0, high=4.71238898)
    assert torch.equal(student.double(x), reference.double(x))
"""
TREBLES = (
    '"""It gives three times the number, not twice."""\nCAUGHT_BY = ["1.1"]\n\n\ndef double(x):\n    return 3 * x\n'
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Assignment, Path]:
    """A proved assignment with a mistake, and its bundle."""
    folder = tmp_path_factory.mktemp("course")
    assignment = tiny_assignment(folder, hidden=HIDDEN, points=5)
    mistakes = assignment.solutions / "mistakes" / "numbers_part"
    mistakes.mkdir(parents=True)
    (mistakes / "trebles.py").write_text(TREBLES)
    handout = "# Tiny\n\n## 1.1 Doubling\n\n`double` gives $2x$; `Counter` counts.\n\n$$\\sum_i x_i$$\n"
    (assignment.folder / "handout.md").write_text(handout)
    assert validate_assignment(assignment.folder, False, 1, True) == 0
    assert release_command(assignment.folder, folder / "tiny.zip") == 0
    return assignment, folder / "tiny.zip"


@pytest.fixture
def home(made: tuple[Assignment, Path], tmp_path: Path) -> Path:
    """The bundle unpacked, far from the project."""
    zipfile.ZipFile(made[1]).extractall(tmp_path)
    return tmp_path / "tiny"


def test_it_holds_what_students_need_and_is_the_same_twice(made: tuple[Assignment, Path], tmp_path: Path) -> None:
    assignment, path = made
    names = set(zipfile.ZipFile(path).namelist())
    expected = (
        "README.md",
        "guide.md",
        "AGENTS.md",
        "set_up.py",
        "constraints.txt",
        "handout.md",
        "handout.html",
        "numbers_part.py",
    )
    assert {f"tiny/{name}" for name in expected} <= names
    course = ("assignment.toml", "checks/test_numbers_part.py", "answers.msgpack", "causes.msgpack")
    assert {f"tiny/course/tiny/{name}" for name in course} <= names
    release_command(assignment.folder, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == path.read_bytes()


def test_it_holds_nothing_hidden_and_no_solution(made: tuple[Assignment, Path]) -> None:
    assignment, path = made
    archive = zipfile.ZipFile(path)
    everything = {name: archive.read(name) for name in archive.namelist()}
    [wheel] = (data for name, data in everything.items() if name.endswith(".whl"))
    inner = zipfile.ZipFile(io.BytesIO(wheel))
    everything.update({f"wheel/{name}": inner.read(name) for name in inner.namelist()})
    hidden = (
        "test_doubles_what_is_negative",
        "4.71238898",
        "tiny-hidden",
        "trebles",
        "return 2 * x",
        "self.value += by",
    )
    found = [(name, word) for name, data in everything.items() for word in hidden if word.encode() in data]
    assert found == [] and not any("hidden/" in name or "solutions/" in name for name in archive.namelist())
    assert [entry.name for entry in bank(assignment, assignment.parts[0])] == ["trebles"]


def test_a_right_solution_passes_at_home_and_a_known_mistake_is_told(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "numbers_part.py").write_text(REFERENCE)
    assert check_command(home, Wish(in_process=True)) == 0
    assert "hidden checks: 3 points" in capsys.readouterr().out
    (home / "numbers_part.py").write_text(REFERENCE.replace("return 2 * x", "return 3 * x"))
    assert check_command(home, Wish(in_process=True)) == 1
    assert "It gives three times the number, not twice." in " ".join(capsys.readouterr().out.split())


def test_as_graded_it_says_the_same(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "numbers_part.py").write_text(REFERENCE.replace("return 2 * x", "return 3 * x"))
    assert check_command(home, Wish()) == 1
    assert "It gives three times the number, not twice." in " ".join(capsys.readouterr().out.split())


def test_the_handout_is_a_page_with_mathematics_that_fetches_nothing(home: Path) -> None:
    page = (home / "handout.html").read_text()
    assert page.count("<math") == 2 and "<mo" in page
    assert not any(word in page for word in ('src="http', 'href="http', "<script", "@import"))


def test_a_damaged_recording_is_one_sentence(home: Path) -> None:
    (home / "course" / "tiny" / "answers.msgpack").write_bytes(b"nothing")
    with pytest.raises(SoftmarkError, match=r"answers\.msgpack cannot be read .*unpack the folder course"):
        check_command(home, Wish(in_process=True))


def test_the_wheel_installs_and_runs_without_the_project(home: Path, tmp_path: Path) -> None:
    [wheel] = home.glob("course/*.whl")
    target = home / ".venv" / "installed"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        str(target),
        str(wheel),
    ]
    subprocess.run(pip, check=True, capture_output=True)
    program = (
        f"import sys; sys.path.insert(0, {str(target)!r}); sys.prefix = {str(home / '.venv')!r}\n"
        "import autograder.cli as c; print(c.__file__); c.main()"
    )
    command = [sys.executable, "-c", program, "check", "--in-process"]
    done = subprocess.run(command, cwd=home, capture_output=True, text=True)
    assert "not implemented yet: double" in done.stdout, done.stderr
    (home / "numbers_part.py").write_text(REFERENCE)
    done = subprocess.run(command, cwd=home, capture_output=True, text=True)
    assert done.stdout.startswith(str(target)) and "1 of 1 passed" in done.stdout, done.stderr


def test_without_a_current_bank_nothing_is_released(tmp_path: Path) -> None:
    assignment = tiny_assignment(tmp_path)
    with pytest.raises(SoftmarkError, match=r"bank\.msgpack is missing, or older .*softmark validate"):
        release_command(assignment.folder, tmp_path / "tiny.zip")
    assert not (tmp_path / "tiny.zip").exists()
