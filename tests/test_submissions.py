"""The sample submissions, graded by the command that TAs type, get what `submissions/expected.toml` says they deserve.

All are graded in one run, once for all test processes. What a check must say of which mistake is validation's subject.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from filelock import FileLock

from autograder import results
from autograder.results import Grade

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
SAMPLES = Path(__file__).parent / "submissions"
EXPECTED = tomllib.loads((SAMPLES / "expected.toml").read_text(encoding="utf-8"))
OUTCOMES = ("failed", "crashed", "timed_out", "missing", "not_run", "partial", "broken")

pytestmark = pytest.mark.timeout(900)  # all of them are graded in the first test


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `softmark grade` wrote. Test processes of one run (pytest-xdist) share it."""
    shared = tmp_path_factory.getbasetemp()
    shared = shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared
    with FileLock(shared / "submissions.lock"):
        out = shared / "grades"
        if not (out / "grades.csv").exists():
            code = _grade(out)
            assert code == 1, "some samples cannot be read, which the exit code has to say"
    return out


def _grade(out: Path) -> int:
    command = [sys.executable, "-m", "autograder.cli", "grade", "assignments/08_transformers", str(SAMPLES)]
    done = subprocess.run([*command, "-o", str(out), "-j", "2"], cwd=ROOT, capture_output=True, text=True)
    assert (out / "grades.csv").exists(), done.stderr
    return done.returncode


def _grade_of(graded: Path, name: str) -> Grade:
    return results.from_json((graded / name / "grade.json").read_bytes())


@pytest.mark.parametrize("name", EXPECTED)
def test_sample_gets_what_it_deserves(graded: Path, name: str):
    grade, expected = _grade_of(graded, name), EXPECTED[name]
    got = {check.number: check.outcome for check in grade.checks if check.weight and check.outcome != "passed"}
    assert (grade.status, got, grade.points) == (
        expected.get("status", "graded"),
        _outcomes(expected, [check.number for check in grade.checks if check.weight]),
        expected.get("points"),
    )


@pytest.mark.parametrize("name", EXPECTED)
def test_bonus_checks_of_sample_pass_where_the_table_says_so(graded: Path, name: str):
    bonus = [check for check in _grade_of(graded, name).checks if not check.weight]
    assert " ".join(check.number for check in bonus if check.outcome == "passed") == EXPECTED[name].get("bonus", "")


@pytest.mark.parametrize("name", EXPECTED)
def test_gradescope_shows_points_and_reasons_of_sample_as_plain_text(graded: Path, name: str):
    shown = json.loads((graded / name / "results.json").read_text(encoding="utf-8"))
    expected = EXPECTED[name]
    assert shown["score"] == expected.get("points", 0)
    text = "\n".join([shown["output"], *(test["output"] for test in shown["tests"])])
    assert [sentence for sentence in expected.get("says", []) if sentence not in text] == []
    assert {sign for sign in text if unicodedata.category(sign) in ("Cc", "Cf", "Cs")} <= {"\n"}


def test_every_sample_stands_in_the_table_and_in_the_gradebook(graded: Path):
    rows = (graded / "grades.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert sorted(row.partition(",")[0] for row in rows) == sorted(EXPECTED)


def test_records_lie_where_the_grader_writes_them_and_nowhere_else(graded: Path):
    assert {path.parent.parent for path in graded.rglob("grade.json")} == {graded}
    assert {path.parent.parent for path in graded.rglob("results.json")} == {graded}
    assert [path.parent for path in graded.rglob("grades.csv")] == [graded]


def _outcomes(expected: dict, numbers: list[str]) -> dict[str, str]:
    """The outcome of each check of the table: "2.7..2.9 2.12" and "all" become numbers."""
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
