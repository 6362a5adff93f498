"""The sample submissions, graded by the command that TAs type, get what the tables beside them say they deserve.

`submissions/expected.toml` says how to read a table. Everything is graded once, for all test processes of a run.
What a check must say of which mistake is validation's subject.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock

from autograder import results
from autograder.results import Grade

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
FOLDERS = (HERE / "submissions", HERE / "exports" / "assignment_7654321_export")
TABLES = (HERE / "submissions" / "expected.toml", HERE / "exports" / "expected.toml")
PART = "attention"  # what the table tells check by check
OUTCOMES = ("failed", "crashed", "timed_out", "missing", "not_run", "partial", "broken")

pytestmark = pytest.mark.timeout(900)  # the first test waits for all of them


@dataclass(frozen=True)
class Sample:
    """A submission: the folder that it stands in, its name, and its entry of the table."""

    folder: Path
    name: str
    expected: dict

    def __str__(self) -> str:
        return self.name


SAMPLES = [
    Sample(folder, name, expected)
    for folder, table in zip(FOLDERS, TABLES, strict=True)
    for name, expected in tomllib.loads(table.read_text(encoding="utf-8")).items()
]
each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=str)


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Path]:
    """For each folder, the one that `softmark grade` wrote. Test processes of one run (pytest-xdist) share them."""
    shared = tmp_path_factory.getbasetemp()
    shared = shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared
    out = {folder: shared / f"grades of {folder.name}" for folder in FOLDERS}
    with FileLock(shared / "graded.lock"):
        for folder in FOLDERS:
            if not (out[folder] / "grades.csv").exists():
                _grade(folder, out[folder])
    return out


def _grade(folder: Path, out: Path) -> None:
    command = [sys.executable, "-m", "autograder.cli", "grade", "assignments/08_transformers", str(folder)]
    done = subprocess.run([*command, "-o", str(out), "-j", "2"], cwd=HERE.parent, capture_output=True, text=True)
    assert (out / "grades.csv").exists(), done.stderr
    assert done.returncode == 1, "some of them cannot be read, which the exit code has to say"


def _grade_of(sample: Sample, graded: dict[Path, Path]) -> Grade:
    return results.from_json((graded[sample.folder] / sample.name / "grade.json").read_bytes())


@each_sample
def test_sample_gets_what_it_deserves(graded: dict[Path, Path], sample: Sample):
    grade = _grade_of(sample, graded)
    with_points = [check for check in grade.checks if check.weight and check.part == PART]
    got = {check.number: check.outcome for check in with_points if check.outcome != "passed"}
    assert (grade.status, got, grade.points) == (
        sample.expected.get("status", "graded"),
        _outcomes(sample.expected, [check.number for check in with_points]),
        _points(sample),
    )


@each_sample
def test_bonus_checks_pass_where_the_table_says_so(graded: dict[Path, Path], sample: Sample):
    bonus = [check for check in _grade_of(sample, graded).checks if not check.weight and check.part == PART]
    assert " ".join(check.number for check in bonus if check.outcome == "passed") == sample.expected.get("bonus", "")


@each_sample
def test_gradescope_shows_points_and_reasons_as_plain_text(graded: dict[Path, Path], sample: Sample):
    shown = json.loads((graded[sample.folder] / sample.name / "results.json").read_text(encoding="utf-8"))
    assert shown["score"] == (_points(sample) or 0)
    text = "\n".join([shown["output"], *(test["output"] for test in shown["tests"])])
    assert [sentence for sentence in sample.expected.get("says", []) if sentence not in text] == []
    assert {sign for sign in text if unicodedata.category(sign) in ("Cc", "Cf", "Cs")} <= {"\n"}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_submission_stands_in_the_table_and_in_the_gradebook(graded: dict[Path, Path], folder: Path):
    rows = (graded[folder] / "grades.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert sorted(row.partition(",")[0] for row in rows) == sorted(s.name for s in SAMPLES if s.folder == folder)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_records_lie_where_the_grader_writes_them_and_nowhere_else(graded: dict[Path, Path], folder: Path):
    out = graded[folder]
    assert {path.parent.parent for path in out.rglob("grade.json")} == {out}
    assert {path.parent.parent for path in out.rglob("results.json")} == {out}
    assert [path.parent for path in out.rglob("grades.csv")] == [out]


def _points(sample: Sample) -> float | None:
    """The points in all: those of part 2, which most of the samples hand in alone, and those of the other parts."""
    points = sample.expected.get("points")
    return None if points is None else points + sample.expected.get("points_of_other_parts", 0)


def _outcomes(expected: dict, numbers: list[str]) -> dict[str, str]:
    """The outcome of each check that the table names: "2.3a..2.3c 2.3f" and "all" become numbers."""
    return {
        number: outcome
        for outcome in OUTCOMES
        for piece in expected.get(outcome, "").split()
        for number in _span(piece, numbers)
    }


def _span(piece: str, numbers: list[str]) -> list[str]:
    if piece == "all":
        return numbers
    first, _, last = piece.partition("..")
    return numbers[numbers.index(first) : numbers.index(last or first) + 1]
