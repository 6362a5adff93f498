"""Who is graded to prove an assignment: reference, starter, trivial answers, mistakes and variants, as hand-ins.

It grades nobody, and does not say what they must get.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from autograder.assignment.assignment import Assignment, Part
from autograder.assignment.bank import BankEntry, bank, overlay, weights_in
from autograder.assignment.trivial_answers import KINDS, trivial_source
from autograder.authoring.starter_code import make_parts
from autograder.intake.submission import Submission
from autograder.sandbox.temporary import TemporaryFolder

CandidateKind = Literal["reference", "starter", "trivial", "mistake", "variant", "mutant"]


@dataclass(frozen=True)
class Candidate:
    """Something handed in on purpose: its files, weights beside them, and the part that tells (all where empty)."""

    name: str
    kind: CandidateKind
    files: Mapping[str, str]
    part: Part | None = None
    entry: BankEntry | None = None
    weights: Mapping[str, bytes] = field(default_factory=dict[str, bytes])


def candidates_of(assignment: Assignment) -> list[Candidate]:
    """Everything that validation grades, in the order in which it is reported.

    All come with the weights of the reference: what knows nothing must not earn by weights that were copied.
    """
    weights = weights_in(assignment.solutions)
    references = references_of(assignment)
    starter = {name: data.decode() for name, data in make_parts(assignment).items()}
    candidates = [
        Candidate("reference", "reference", references, weights=weights),
        Candidate("starter", "starter", starter, weights=weights),
    ]
    for kind in KINDS:
        files = {part.file: trivial_source(references[part.file], part, kind) for part in assignment.parts}
        candidates.append(Candidate(f"trivial-{kind}", "trivial", files, weights=weights))
    for part in assignment.parts:
        for entry in bank(assignment, part):
            source = overlay(references[part.file], entry.source())
            files = {**references, part.file: source}
            name = f"{entry.kind}-{part.name}-{entry.name}"
            candidates.append(Candidate(name, entry.kind, files, part, entry, {**weights, **entry.weights()}))
    return candidates


def references_of(assignment: Assignment) -> dict[str, str]:
    """The source of every part's reference solution, by file."""
    return {part.file: assignment.reference(part).read_text(encoding="utf-8") for part in assignment.parts}


@contextmanager
def handed_in(candidates: Sequence[Candidate]) -> Generator[tuple[Path, dict[str, Submission]]]:
    """Each candidate as a submission, by name, in a folder that is removed afterwards."""
    with TemporaryFolder() as top:
        submissions: dict[str, Submission] = {}
        for candidate in candidates:
            folder = top / "handed_in" / candidate.name
            folder.mkdir(parents=True)
            for name, text in candidate.files.items():
                (folder / name).write_text(text, encoding="utf-8")
            for name, data in candidate.weights.items():
                (folder / name).write_bytes(data)
            submissions[candidate.name] = Submission(name=candidate.name, path=folder)
        yield top, submissions
