"""What an assignment gives is there when work is graded, as the instructor's; other data is kept where asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.assignment.assignment import Assignment
from autograder.intake.beforehand import warnings_on_code
from autograder.intake.finding import find_submissions
from autograder.intake.submission import SourceTree, Submission, read_submission
from autograder.run.pool import Job, grade_all
from autograder.run.session import Session
from tests.intake.handins import notebook
from tests.tiny import tiny_assignment

READS = """
import json
from pathlib import Path

def double(x):
    # BEGIN SOLUTION
    from given.tables.rule import times
    return times(x) + json.load(open("given/shift.json"))
    # END SOLUTION

class Counter:
    pass
"""
CHECK = '''
@number("1.1")
@weight(2)
def test_doubles(student, reference, given):
    """What is given is there"""
    import json
    assert student.double(3) == reference.double(3) == 6 + json.loads((given / "shift.json").read_text())
'''


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    made = tiny_assignment(tmp_path, CHECK, reference=READS)
    tables = made.folder / "given" / "tables"
    tables.mkdir(parents=True)
    (tables / "rule.py").write_text("def times(x): return 2 * x\n")
    (tables / "__pycache__").mkdir()
    (tables / "__pycache__" / "rule.cpython-311.pyc").write_bytes(b"left behind")
    (made.folder / "given" / "shift.json").write_text("5")
    return made


def handed_in(tmp_path: Path, assignment: Assignment, name: str = "student_01", **files: str) -> SourceTree:
    home = tmp_path / "handed_in" / name
    for path, text in files.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text)
    return read_submission(Submission(name=name, path=home), assignment)


def test_what_is_handed_in_of_it_is_ignored_and_what_differs_is_told(tmp_path: Path, assignment: Assignment) -> None:
    same, rule = "def times(x): return 2 * x\n", "given/tables/rule.py"
    whole = {"numbers_part.py": READS, rule: same, "given/shift.json": "7", "top/given/mine.py": "a = 1"}
    tree = handed_in(tmp_path, assignment, **whole)
    assert set(tree.files) == {"numbers_part.py"}
    assert tree.given == {"given/shift.json": b"5", rule: same.encode()}
    changed, own = sorted(tree.notes)
    assert changed.startswith("given/shift.json is not the handout's any more")
    assert own.startswith("top/given/mine.py was ignored")
    assert tree.digest == handed_in(tmp_path, assignment, "student_02", **{"numbers_part.py": READS}).digest


def test_it_is_imported_and_read_in_a_worker_by_the_reference_and_by_a_check(
    tmp_path: Path, assignment: Assignment, session: Session
) -> None:
    handed_in(tmp_path, assignment, "student_01", **{"numbers_part.py": READS, "given/shift.json": "1"})
    beside = READS.replace('open("given/shift.json")', '(Path(__file__).parent / "given" / "shift.json").open()')
    handed_in(tmp_path, assignment, "student_02", **{"numbers_part.py": beside})
    handed_in(tmp_path, assignment, "student_03", **{"numbers_part.py": READS.replace("+", "-")})
    found = find_submissions(tmp_path / "handed_in", assignment)
    done = grade_all(Job(assignment, found, tmp_path / "grades"), session, 1)
    assert {each.grade.submission: each.grade.points for each in done} == {
        "student_01": 2,
        "student_02": 2,
        "student_03": 0,
    }


def test_what_is_given_is_a_library_to_a_notebook_and_no_warning_to_who_hands_in(
    tmp_path: Path, assignment: Assignment
) -> None:
    source = "from given.tables.rule import times\n\ndef double(x):\n    return times(x)\n"
    home = tmp_path / "notebook"
    home.mkdir()
    (home / "work.ipynb").write_bytes(notebook(source))
    tree = read_submission(Submission(name="notebook", path=home), assignment)
    assert b"\nfrom given.tables.rule import times\n" in tree.files["numbers_part.py"]  # as it stands, in no try
    assert not any("given" in note for note in tree.notes)
    assert list(warnings_on_code({"numbers_part.py": source.encode()}, assignment)) == [
        "numbers_part.py does not define Counter."
    ] * ("Counter" in assignment.parts[0].functions)


@pytest.mark.parametrize("pattern, kept", [("*.csv", {"runs.csv"}), ("runs.*", {"runs.csv", "runs.npz"}), ("", set())])
def test_data_of_a_kind_that_the_manifest_accepts_is_kept(
    pattern: str, kept: set[str], tmp_path: Path, with_manifest: Callable[[str], Assignment]
) -> None:
    made = with_manifest(f'accept = ["{pattern}"]\n' if pattern else "")
    files = {"numbers_part.py": "def double(x): return x", "runs.csv": "1", "runs.npz": "2"}
    tree = handed_in(tmp_path, made, **files)
    assert set(tree.files) == {"numbers_part.py", *kept}
    assert any("runs." in note for note in tree.notes) == (len(kept) < 2)


@pytest.fixture
def with_manifest(tmp_path: Path) -> Callable[[str], Assignment]:
    from autograder.assignment.assignment import load_assignment

    def make(line: str) -> Assignment:
        folder = tiny_assignment(tmp_path).folder
        manifest = folder / "assignment.toml"
        manifest.write_text(line + manifest.read_text())
        return load_assignment(folder)

    return make
