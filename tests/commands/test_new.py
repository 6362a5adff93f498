"""A new assignment works as it stands: it validates, gives starter code, and grades. In a fresh folder."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autograder.assignment.assignment import load_assignment
from autograder.authoring.audit import audit
from autograder.authoring.starter_code import make_starter, write_starter
from autograder.commands.new import home_of, make_assignment
from autograder.commands.validate import prove
from autograder.errors import SoftmarkError
from autograder.intake.submission import Submission
from autograder.run.pool import Job, grade_all
from autograder.run.session import Session

ONLY = """
import sys
sys.path.insert(0, {!r})
sys.argv[0] = "softmark"
import autograder.cli
assert autograder.__file__.startswith(sys.path[0])
autograder.cli.program()
"""
"""Runs the Softmark that is installed there, and not this checkout's."""


def softmark(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autograder.cli", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=200, check=False)


def test_from_new_to_grades_of_the_reference_and_the_starter(tmp_path: Path, session: Session) -> None:
    made = softmark("new", "03_norms", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assignment = load_assignment(tmp_path / "assignments" / "03_norms")
    report = prove(assignment, session, 1)
    assert report.shortfalls == ()
    assert report.last_line() == "reference 5/5 · starter 0/5 · mistakes 1/1 caught · variants 1/1 full marks"
    assert write_starter(assignment) == ["README.md", "norm.py"]
    submissions = [
        Submission(name="starter", path=assignment.starter),
        Submission(name="reference", path=assignment.solutions / "norm.py"),
    ]
    grades = {
        done.grade.submission: done.grade for done in grade_all(Job(assignment, submissions, tmp_path), session, 1)
    }
    assert {name: (grade.status, grade.points) for name, grade in grades.items()} == {
        "starter": ("graded", 0),
        "reference": ("graded", 5),
    }


def test_what_students_get_teaches_nothing_about_the_grader(tmp_path: Path) -> None:
    assignment = load_assignment(make_assignment("norms", tmp_path))
    assert audit(assignment) == []
    starter = make_starter(assignment)["norm.py"].decode()
    assert "reference" not in starter
    assert starter.rstrip().endswith("raise NotImplementedError")


def test_each_assignment_has_keys_of_its_own_and_what_is_hidden_is_its_owners_alone(tmp_path: Path) -> None:
    one, other = (load_assignment(make_assignment(name, tmp_path)) for name in ("one", "other"))
    assert len({one.key, one.hidden_key(), other.key, other.hidden_key()}) == 4
    for closed in (one.hidden, one.solutions):
        for path in (closed, *closed.rglob("*")):
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["assignments", "solutions"]


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "two words", "-o", "ä", "a" * 61, "a\n", "../up"])
def test_a_name_that_no_folder_should_have_is_refused_with_a_better_one(name: str, tmp_path: Path) -> None:
    with pytest.raises(SoftmarkError, match=r"cannot be called .*, as in '\w+'") as caught:
        make_assignment(name, tmp_path)
    assert caught.value.exit_code == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["assignments", "solutions", "starter_code"])
def test_nothing_is_overwritten(place: str, tmp_path: Path) -> None:
    (tmp_path / place / "norms").mkdir(parents=True)
    (tmp_path / place / "norms" / "mine").touch()
    with pytest.raises(SoftmarkError, match=f"{place}/norms is there already"):
        make_assignment("norms", tmp_path)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["mine"]


def test_a_folder_that_cannot_be_written_is_a_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "solutions").touch()
    done = softmark("new", "norms", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("softmark: ")
    assert "Traceback" not in done.stderr
    assert not any((tmp_path / "assignments").glob("*"))


def test_it_goes_where_the_other_assignments_are(tmp_path: Path) -> None:
    make_assignment("one", tmp_path)
    deep = tmp_path / "assignments" / "one" / "checks"
    assert home_of(deep) == tmp_path
    assert home_of(tmp_path / "assignments") == tmp_path
    assert os.path.samefile(home_of(tmp_path), tmp_path)


def test_a_course_of_its_own_needs_the_wheel_and_no_checkout(tmp_path: Path) -> None:
    """The wheel that the repository holds is unpacked, as pip does, and every verb is its own."""
    made = softmark("new", "my_course", "--course", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    course, installed = tmp_path / "my_course", tmp_path / "installed"
    assert {".gitignore", ".github", "Makefile", "README.md", "set_up.py", "constraints.txt"} <= {
        path.name for path in course.iterdir()
    }
    (wheel,) = (course / "softmark").glob("softmark-*.whl")
    zipfile.ZipFile(wheel).extractall(installed)
    (course / "submissions" / "student_01").mkdir(parents=True)
    shutil.copy(course / "solutions" / "01_first" / "norm.py", course / "submissions" / "student_01")
    first, out = "assignments/01_first", "build/grades"
    said = ""
    for words in (
        ("new", "02_second"),
        ("validate", first),
        ("starter", first),
        ("starter", first, "--check"),
        ("grade", first, "submissions", "-o", out, "-j", "1"),
        ("report", out),
        ("release", first, "-o", "build/students.zip"),
        ("package", first, "-o", "build/gradescope.zip"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", ONLY.format(str(installed)), *words],
            capture_output=True,
            text=True,
            cwd=course,
            timeout=200,
            check=False,
        )
        assert done.returncode == 0, (words, done.stderr)
        said += done.stdout
    assert "variants 1/1 full marks" in said and "student_01  5/5" in said
    packed = zipfile.ZipFile(course / "build" / "gradescope.zip").namelist()
    assert {wheel.name, "setup.sh", "course/solutions/01_first/norm.py"} <= set(packed)
    shutil.copy(wheel, wheel.with_name("softmark-0.0.1-py3-none-any.whl"))
    two = subprocess.run([sys.executable, "set_up.py"], capture_output=True, text=True, cwd=course, check=False)
    assert two.returncode == 1 and "softmark-0.0.1-py3-none-any.whl, " in two.stderr and "keep the one" in two.stderr
    again = softmark("new", "my_course", "--course", cwd=tmp_path)
    assert again.returncode == 2 and "nothing is overwritten" in again.stderr
