"""Changed references, graded in the warm pool like submissions: each in the checks of its part that can tell.

The reference comes first: what each check calls and what it costs decides in which checks a change is tried, and in
which order. It does not say what is to be done about a change that no check notices.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from autograder.assignment.assignment import Assignment, Part
from autograder.assignment.bank import weights_in
from autograder.authoring.mutation.mutants import Mutant
from autograder.authoring.mutation.source_text import SourceText
from autograder.authoring.proof.candidates import Candidate, handed_in, references_of
from autograder.authoring.proof.expectations import failing
from autograder.authoring.proof.influence import reached_by_change, reached_in, unaffected
from autograder.diagnosis.mistake_bank import BankWriter, KnownMistake
from autograder.diagnosis.traces import CheckTrace
from autograder.errors import SoftmarkError
from autograder.grading.record import folder_of
from autograder.results import Grade
from autograder.run.pool import TRACES, Job, grade_all
from autograder.run.session import Session

_LEAST_SECONDS = 2.0
_AT_A_TIME = 60  # so many lie on the disk at once


@dataclass(frozen=True)
class TrialOutcome:
    """What became of a candidate.

    Attributes:
        name: of the candidate.
        grade: of the checks that ran.
        traces: what they saw.
    """

    name: str
    grade: Grade
    traces: tuple[CheckTrace, ...]

    @property
    def killer(self) -> str:
        """The first check that failed; "" where none did."""
        return next(iter(failing(self.grade)), "")


class Trial:
    """Grades changes of one assignment's reference. The session's fork server must be ready."""

    def __init__(self, assignment: Assignment, session: Session, graders: int, parts: Sequence[Part]) -> None:
        """Grade the reference of `parts`. Raises `SoftmarkError` where it does not pass all their checks."""
        self._assignment, self._session, self._graders = assignment, session, graders
        self.references = references_of(assignment)
        self._weights = weights_in(assignment.solutions)
        reference = Candidate("reference", "reference", self.references, weights=self._weights)
        (outcome,) = self._graded([reference], {"reference": [part.name for part in parts]}, until_one_fails=False)
        failed = failing(outcome.grade)
        if failed or outcome.grade.status == "ungraded":
            raise SoftmarkError(
                f"The reference of {assignment.name} fails check {', '.join(failed) or outcome.grade.reason}: "
                f"softmark validate {assignment.folder} says why. Only what passes can be changed and tried.",
                exit_code=1,
            )
        self.reference = outcome.traces
        self._slowest = {
            part.name: max(check.cpu_seconds for check in outcome.grade.checks if check.part == part.name)
            for part in parts
        }
        self._seconds = {check.number: check.wall_seconds for check in outcome.grade.checks}
        self._parts = {check.number: check.part for check in outcome.grade.checks}

    def mutant(self, mutant: Mutant, name: str) -> Candidate:
        """The reference with one change, to be handed in."""
        part = self._assignment.part(mutant.part)
        return self.candidate(name, part, SourceText(self.references[part.file]).replaced(mutant.change))

    def candidate(self, name: str, part: Part, source: str) -> Candidate:
        """The reference with another source of one part, to be handed in."""
        return Candidate(name, "mutant", {**self.references, part.file: source}, part, weights=self._weights)

    def checks_for(self, mutant: Mutant) -> list[str]:
        """The checks that may notice a change: those that call its function themselves first, and the cheap ones."""
        own, left_out = self._of_part(mutant.part), self._left_out(mutant)

        def rank(trace: CheckTrace) -> tuple[bool, float]:
            return mutant.top not in reached_in(trace.functions), self._seconds[trace.number]

        return [trace.number for trace in sorted(own, key=rank) if trace.number not in left_out]

    def behaviour(self, outcome: TrialOutcome, mutant: Mutant, code: str) -> KnownMistake:
        """What a change gave in every check of its part, as the bank keeps it; tried on all that may notice."""
        writer = BankWriter(self.reference)
        writer.add(outcome.name, "", outcome.traces, code, unaffected=self._left_out(mutant))
        return writer.bank().mistakes[outcome.name]

    def until_one_fails(
        self, candidates: Sequence[Candidate], checks: Mapping[str, Sequence[str]]
    ) -> Iterator[TrialOutcome]:
        """Each candidate in its checks, in their order, up to the first that fails."""
        return self._graded(candidates, checks, until_one_fails=True)

    def in_all(self, candidates: Sequence[Candidate], checks: Mapping[str, Sequence[str]]) -> Iterator[TrialOutcome]:
        """Each candidate in all of its checks."""
        return self._graded(candidates, checks, until_one_fails=False)

    def _of_part(self, part: str) -> list[CheckTrace]:
        return [trace for trace in self.reference if self._parts[trace.number] == part]

    def _left_out(self, mutant: Mutant) -> frozenset[str]:
        """The checks of its part that a change has no influence on."""
        source = self.references[self._assignment.part(mutant.part).file]
        return unaffected(self._of_part(mutant.part), reached_by_change(source, mutant.top))

    def _graded(
        self, candidates: Sequence[Candidate], checks: Mapping[str, Sequence[str]], *, until_one_fails: bool
    ) -> Iterator[TrialOutcome]:
        slowest = max((self._slowest[each.part.name] for each in candidates if each.part is not None), default=math.inf)
        for first in range(0, len(candidates), _AT_A_TIME):
            with handed_in(candidates[first : first + _AT_A_TIME]) as (folder, submissions):
                job = Job(
                    _in_less_time(self._assignment, slowest),
                    list(submissions.values()),
                    folder / "grades",
                    again=True,
                    keep_traces=not until_one_fails,
                    all_values_of=["reference"],
                    until_one_fails=until_one_fails,
                    only_for={name: checks[name] for name in submissions},
                )
                for done in grade_all(job, self._session, self._graders):
                    name = done.grade.submission
                    yield TrialOutcome(name, done.grade, _traces(folder_of(job.out, name) / TRACES))


def _in_less_time(assignment: Assignment, slowest: float) -> Assignment:
    """The assignment with a limit that the reference stays far below: of changes that never end there are many."""
    seconds = min(assignment.limits.cpu_seconds, max(_LEAST_SECONDS, 3 * slowest))
    return msgspec.structs.replace(assignment, limits=msgspec.structs.replace(assignment.limits, cpu_seconds=seconds))


def _traces(path: Path) -> tuple[CheckTrace, ...]:
    return msgspec.msgpack.decode(path.read_bytes(), type=tuple[CheckTrace, ...]) if path.exists() else ()
