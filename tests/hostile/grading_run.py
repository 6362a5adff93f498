"""A whole run as a program of its own, to be killed: `python -m tests.hostile.grading_run FOLDER`.

Grades what lies in FOLDER/handed_in into FOLDER/grades. It proves no layers: the tests of the sandbox do.
"""

from __future__ import annotations

import sys
from pathlib import Path

from autograder.assignment.assignment import load_assignment
from autograder.intake.finding import find_submissions
from autograder.run.pool import Job, grade_all
from autograder.run.session import Session


def main(folder: Path) -> None:
    assignment = load_assignment(folder / "assignments" / "tiny")
    found = find_submissions(folder / "handed_in", assignment)
    with Session() as session:
        session.wait_ready()
        for _ in grade_all(Job(assignment, found, folder / "grades"), session, 2):
            pass


if __name__ == "__main__":
    main(Path(sys.argv[1]))
