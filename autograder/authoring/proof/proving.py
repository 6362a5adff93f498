"""One proof of an assignment: every candidate graded like a submission, each in the checks in which it can tell.

A mistake always runs in the checks that must catch it. What it gives in the others is kept in the bank: there it runs
only where something has changed that decides it (`evidence`) and where it can tell (`influence`). With `matrix`,
everything runs everywhere. It changes nothing in the assignment but the bank of what mistakes gave.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from autograder.assignment.assignment import Assignment
from autograder.authoring.proof.candidates import Candidate, candidates_of, handed_in
from autograder.authoring.proof.evidence import Evidence, agrees, same_bank
from autograder.authoring.proof.expectations import ProofReport, Shortfall, failing, judge
from autograder.authoring.proof.influence import reached_by_entry, unaffected
from autograder.diagnosis.mistake_bank import AT_HOME, Bank, BankWriter, KnownMistake
from autograder.diagnosis.traces import CheckTrace
from autograder.errors import SoftmarkError
from autograder.grading.known_mistakes import bank_file, made_from
from autograder.grading.record import folder_of, write_atomically
from autograder.grading.recording import recorded
from autograder.intake.submission import Submission
from autograder.progress import Progress
from autograder.results import Grade
from autograder.run.pool import TRACES, Job, grade_all
from autograder.run.session import Session

_REFERENCE = "reference"
_LIVELESS = ("crashed", "timed_out")


def prove(
    assignment: Assignment, session: Session, graders: int, names: Sequence[str] = (), *, matrix: bool = False
) -> ProofReport:
    """Grade every candidate (or those named) and compare with what each must get.

    Args:
        assignment: to be proved.
        session: whose fork server is ready.
        graders: side by side.
        names: of the candidates to grade, each in all checks of its part; the bank is then left as it is. Empty: all.
        matrix: take nothing from the bank, and run every mistake in every check of its part.
    """
    candidates = [each for each in candidates_of(assignment) if not names or each.name in names]
    with handed_in(candidates) as (folder, submissions):
        proof = _Proof(assignment, session, graders, candidates, submissions, folder / "grades")
        if names:
            proof.run({each.name: _whole(each) for each in candidates})
        else:
            proof.run_all(matrix)
        return proof.report()


class _Proof:
    """One run: what was graded so far, and what may be left out."""

    def __init__(
        self,
        assignment: Assignment,
        session: Session,
        graders: int,
        candidates: Sequence[Candidate],
        submissions: Mapping[str, Submission],
        out: Path,
    ) -> None:
        self._assignment, self._session, self._graders = assignment, session, graders
        self._candidates = {each.name: each for each in candidates}
        self._submissions, self._out = submissions, out
        self._evidence = Evidence(assignment)
        self._answers = _answers_of(assignment)
        self._grades: dict[str, Grade] = {}
        self._kept: dict[str, KnownMistake] = {}
        self._unaffected: dict[str, frozenset[str]] = {}

    def run(self, only: Mapping[str, Sequence[str]]) -> None:
        """Grade the candidates named, each in the checks (or parts) given for it; in all where none are given."""
        if not only:
            return
        submissions = [self._submissions[name] for name in only]
        limited = {name: checks for name, checks in only.items() if checks}
        job = Job(
            self._assignment,
            submissions,
            self._out,
            again=True,
            only_for=limited,
            keep_traces=True,
            all_values_of=[_REFERENCE],
            answers=self._answers,
            at_home=[each.name for each in self._candidates.values() if each.kind in (_REFERENCE, "variant")],
        )
        with Progress(len(submissions), "proved") as progress:
            for done in grade_all(job, self._session, self._graders):
                self._grades[done.grade.submission] = done.grade
                progress.step()

    def run_all(self, matrix: bool) -> None:
        """Grade everything, mistakes last; and make the bank anew."""
        mistakes = {name: each for name, each in self._candidates.items() if each.kind == "mistake"}
        known = {} if matrix else self._known(mistakes.values())
        first = {name: _whole(each) for name, each in self._candidates.items() if each.kind != "mistake"}
        self.run({**first, **{name: _killers(mistakes[name]) for name in known}})
        writer = BankWriter(self._traces(_REFERENCE), made_from(self._assignment))
        self._kept = {name: each for name, each in known.items() if self._still_holds(writer, name, each)}
        for name, each in mistakes.items():
            self._unaffected[name] = self._out_of_reach(each)
        rest = {name: self._chosen(each, matrix) for name, each in mistakes.items() if name not in self._kept}
        self.run(rest)
        self._write_bank(writer, mistakes, matrix)

    def report(self) -> ProofReport:
        """What was found, compared with what must be."""
        known = {name: tuple(n for n, items in each.checks.items() if any(items)) for name, each in self._kept.items()}
        report = judge(self._assignment, list(self._candidates.values()), self._grades, known)
        more = tuple(self._surprises())
        return msgspec.structs.replace(report, shortfalls=(*report.shortfalls, *more)) if more else report

    # -------------------------------------------------------------- what an earlier run says

    def _known(self, mistakes: Collection[Candidate]) -> dict[str, KnownMistake]:
        """The mistakes of which the bank tells what they give, made from what is there now."""
        bank = Bank.load(bank_file(self._assignment)).mistakes
        return {
            each.name: bank[each.name]
            for each in mistakes
            if each.name in bank
            and bank[each.name].made_from == self._digest(each)
            and _is_usable(each, bank[each.name])
        }

    def _digest(self, candidate: Candidate) -> str:
        assert candidate.part is not None and candidate.entry is not None
        return self._evidence.of(candidate.part, candidate.entry)

    def _still_holds(self, writer: BankWriter, name: str, known: KnownMistake) -> bool:
        """Whether the bank knows every check of the part, and those that just ran gave what it says."""
        traces = self._traces(name)
        found = {trace.number: writer.failures(trace) for trace in traces}
        checks = {number.removesuffix(AT_HOME) for number in known.checks}
        return checks == set(self._numbers(self._candidates[name])) and all(
            failures is not None and agrees(known, number, failures) for number, failures in found.items()
        )

    def _write_bank(self, writer: BankWriter, mistakes: Mapping[str, Candidate], matrix: bool) -> None:
        for name, candidate in mistakes.items():
            entry = candidate.entry
            assert entry is not None
            if name in self._kept:
                writer.keep(name, msgspec.structs.replace(self._kept[name], sentence=entry.diagnosis))
            elif not entry.crashes:
                traces, left_out = self._traces(name), () if matrix else self._unaffected[name]
                digest = self._digest(candidate)
                writer.add(name, entry.diagnosis, traces, entry.source(), unaffected=left_out, made_from=digest)
        bank, before = writer.bank(), Bank.load(bank_file(self._assignment))
        if not same_bank(before, bank):  # else they differ in rounding alone, and the file stays as it was
            write_atomically(bank_file(self._assignment), writer.to_bytes())

    def _traces(self, name: str) -> tuple[CheckTrace, ...]:
        file = folder_of(self._out, name) / TRACES  # not there where it could not be graded, which is told anyway
        return msgspec.msgpack.decode(file.read_bytes(), type=tuple[CheckTrace, ...]) if file.exists() else ()

    # -------------------------------------------------------------- what a mistake can tell

    def _out_of_reach(self, candidate: Candidate) -> frozenset[str]:
        """The checks of the part that call nothing which the mistake changes."""
        assert candidate.part is not None and candidate.entry is not None
        if candidate.entry.weights() or _REFERENCE not in self._grades:
            return frozenset()
        reference = self._assignment.reference(candidate.part).read_text(encoding="utf-8")
        numbers = self._numbers(candidate)
        traces = [trace for trace in self._traces(_REFERENCE) if trace.number in numbers]
        return unaffected(traces, reached_by_entry(reference, candidate.entry.source()))

    def _chosen(self, candidate: Candidate, matrix: bool) -> Sequence[str]:
        """The checks that a mistake runs in: those that it may change, and those that must catch it."""
        numbers = self._numbers(candidate)
        assert candidate.entry is not None
        left_out = self._unaffected[candidate.name].difference(candidate.entry.caught_by)
        return _whole(candidate) if matrix or not numbers else [each for each in numbers if each not in left_out]

    def _numbers(self, candidate: Candidate) -> tuple[str, ...]:
        assert candidate.part is not None
        return tuple(check.number for check in self._grades[_REFERENCE].checks if check.part == candidate.part.name)

    def _surprises(self) -> Iterator[Shortfall]:
        """Mistakes that fail what they should have no influence on: then leaving checks out was wrong."""
        for name, out_of_reach in self._unaffected.items():
            failed = out_of_reach.intersection(failing(self._grades[name]))
            if failed:
                numbers = ", ".join(sorted(failed))
                yield Shortfall(
                    name, f"fails check {numbers}, though nothing is called there that it defines: it must not do that"
                )


def _answers_of(assignment: Assignment) -> bytes:
    """The reference's answers at home; none where it fails a visible check, which is then told as any shortfall is."""
    try:
        return recorded(assignment)
    except SoftmarkError:
        return b""


def _whole(candidate: Candidate) -> Sequence[str]:
    return (candidate.part.name,) if candidate.part is not None else ()


def _killers(candidate: Candidate) -> Sequence[str]:
    assert candidate.entry is not None
    return candidate.entry.caught_by


def _is_usable(candidate: Candidate, known: KnownMistake) -> bool:
    """Whether what is known answers every question that a whole run would: none but its killers must run again."""
    killers = set(_killers(candidate))
    endings = {item.ending for items in known.checks.values() for item in items if item is not None}
    return killers <= known.checks.keys() and endings.isdisjoint(_LIVELESS)
