"""A whole export: who handed in what is read from it, and each submission has the code of the sample it was made of.

Equal code gets an equal grade, and `test_submissions` holds the samples to theirs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.assignment.assignment import Assignment, load_assignment
from autograder.intake.finding import find_submissions
from autograder.intake.submission import (
    SourceTree,
    Submission,
    Submitter,
    Unreadable,
    read_submission,
)
from tests.gradescope_export import SAMPLES, SUBMISSIONS, Exported, write_export

ASSIGNMENT = load_assignment(Path(__file__).parents[2] / "assignments" / "08_transformers")
WITH_WORK = [one for one in SUBMISSIONS if one.sample not in ("", "student_49_empty_folder")]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Submission]:
    folder = tmp_path_factory.mktemp("exports")
    write_export(folder / "assignment_4405012_export")
    return {submission.name: submission for submission in find_submissions(folder, ASSIGNMENT)}


def tree(submission: Submission, assignment: Assignment = ASSIGNMENT) -> SourceTree:
    return read_submission(submission, assignment)


def test_every_submission_is_found_once_and_the_one_that_is_nothing_is_not(found: dict[str, Submission]) -> None:
    assert list(found) == [f"submission_40919{number:04d}" for number in range(1, 11)]


def test_submitters_are_read_as_they_stand(found: dict[str, Submission]) -> None:
    people = {name[-2:]: [(one.name, one.sid) for one in submission.submitters] for name, submission in found.items()}
    assert people == {
        "01": [("Student One", "0123456789")],
        "02": [("Student Two", "0222"), ("Student Three", "00017")],
        "03": [("Student Four", "3031234567")],
        "04": [("Student 'Five'", "")],
        "05": [("Yes", "1e5")],
        "06": [("Größe, 変換", "0x1F"), ("'~'", "1_000"), ("Student Eight", "")],
        "07": [("Student Nine", "7")],
        "08": [],
        "09": [],
        "10": [("Student Eleven", "11")],
    }


def test_times_and_addresses_are_read(found: dict[str, Submission]) -> None:
    first = found["submission_409190001"]
    assert first.created_at == "2026-04-26 17:34:01.861687000 Z"
    assert first.submitters == (Submitter(name="Student One", sid="0123456789", email="student_01@example.edu"),)


@pytest.mark.parametrize("one", WITH_WORK, ids=lambda one: one.sample)
def test_a_submission_has_the_code_of_the_sample_it_was_copied_from(
    one: Exported, found: dict[str, Submission]
) -> None:
    original = tree(Submission(name="sample", path=SAMPLES / one.sample))
    exported = tree(found[f"submission_40919{one.number:04d}"])
    name = one.sample.encode()
    files = {file: data.replace(name, b"hw8.ipynb") for file, data in original.files.items()}
    assert exported.files == files


@pytest.mark.parametrize(
    ("number", "sentence"), [(7, "holds no file that could be graded"), (10, "is missing, though it is listed")]
)
def test_what_is_empty_or_gone_is_a_sentence(number: int, sentence: str, found: dict[str, Submission]) -> None:
    with pytest.raises(Unreadable, match=sentence):
        tree(found[f"submission_40919{number:04d}"])
