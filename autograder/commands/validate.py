"""The assignment proved: reference, starter, trivial answers, mistakes and variants, each graded like a submission.

Each of them is written out as a hand-in and goes the way that students' code goes, workers and all. This words the
outcome for a person: which expectation fell short, and in which check. How it is found out stands in `proof`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from autograder.assignment.assignment import load_assignment
from autograder.authoring.audit import audit, remarks
from autograder.authoring.proof.candidates import Candidate, candidates_of
from autograder.authoring.proof.expectations import ProofReport, Shortfall
from autograder.authoring.proof.proving import prove
from autograder.run.session import Session

__all__ = ["Candidate", "ProofReport", "Shortfall", "candidates_of", "prove", "validate_assignment"]


def validate_assignment(folder: Path, matrix: bool, graders: int, as_json: bool) -> int:
    """Carry out `softmark validate`: print what fell short and the last line; 1 where anything did."""
    assignment = load_assignment(folder)
    with Session() as session:
        found = [Shortfall(fault.where, fault.sentence) for fault in audit(assignment)]
        if not as_json:  # what reading finds is there at once
            _print_found(found, remarks(assignment))
        session.wait_ready()
        report = prove(assignment, session, graders, matrix=matrix)
    if as_json:
        report = msgspec.structs.replace(report, shortfalls=(*found, *report.shortfalls))
        sys.stdout.write(msgspec.json.encode(report).decode() + "\n")
        return 1 if report.shortfalls else 0
    if matrix:
        _print_matrix(report)
    for shortfall in report.shortfalls:
        print(f"{shortfall.candidate}: {shortfall.sentence}")
    print(report.last_line())
    return 1 if found or report.shortfalls else 0


def _print_found(found: Sequence[Shortfall], notes: Sequence[str]) -> None:
    for each in found:
        print(f"{each.candidate}: {each.sentence}")
    for note in notes:
        print(f"note: {note}")
    sys.stdout.flush()


def _print_matrix(report: ProofReport) -> None:
    for name, killers in report.matrix.items():
        print(f"{name}: fails {', '.join(killers) or 'nothing'}")
    print()
    for number, mistakes in report.only_killers.items():
        print(f"check {number} alone catches {len(mistakes)}: {', '.join(mistakes) or '-'}")
    print()
