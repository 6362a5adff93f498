"""The assignment proved: reference, starter, trivial answers, mistakes and variants, each graded like a submission.

Each of them is written out as a hand-in and goes the way that students' code goes, workers and all. Says which
expectation fell short, and in which check. It changes nothing in the assignment but the bank of what mistakes gave.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from autograder.assignment import Assignment, Part, load_assignment
from autograder.bank import BankEntry, bank, overlay, weights_in
from autograder.batch.local import TRACES, Job, grade_all
from autograder.feedback.mistake_bank import BankWriter
from autograder.feedback.traces import CheckTrace
from autograder.known_mistakes import bank_file, made_from
from autograder.record import folder_of, write_atomically
from autograder.release.starter import make_starter
from autograder.results import CheckResult, Grade
from autograder.session import Session
from autograder.submission import Submission
from autograder.trivial import KINDS, trivial_source


@dataclass(frozen=True)
class Candidate:
    """Something handed in on purpose: its files, weights beside them, and the checks that tell (all where empty)."""

    name: str
    kind: str
    files: Mapping[str, str]
    part: Part | None = None
    entry: BankEntry | None = None
    weights: Mapping[str, bytes] = field(default_factory=dict[str, bytes])


class Shortfall(msgspec.Struct, frozen=True):
    """One expectation that does not hold, in a sentence."""

    candidate: str
    sentence: str


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What validation found. `matrix` maps each mistake to the checks that it fails."""

    assignment: str
    reference: str
    starter: str
    mistakes: int
    caught: int
    variants: int
    right: int
    shortfalls: tuple[Shortfall, ...]
    matrix: dict[str, tuple[str, ...]]
    only_killers: dict[str, tuple[str, ...]]

    def last_line(self) -> str:
        """The line that `validate` ends in."""
        return (
            f"reference {self.reference} · starter {self.starter} · mistakes {self.caught}/{self.mistakes} caught · "
            f"variants {self.right}/{self.variants} full marks"
        )


def validate_assignment(folder: Path, matrix: bool, graders: int, as_json: bool) -> int:
    """Carry out `softmark validate`: print what fell short and the last line; 1 where anything did."""
    assignment = load_assignment(folder)
    with Session() as session:
        session.wait_ready()
        report = prove(assignment, session, graders)
    if as_json:
        sys.stdout.write(msgspec.json.encode(report).decode() + "\n")
        return 1 if report.shortfalls else 0
    if matrix:
        _print_matrix(report)
    for shortfall in report.shortfalls:
        print(f"{shortfall.candidate}: {shortfall.sentence}")
    print(report.last_line())
    return 1 if report.shortfalls else 0


def prove(assignment: Assignment, session: Session, graders: int, names: Sequence[str] = ()) -> Report:
    """Grade every candidate (or those named) and compare with what each must get."""
    candidates = [each for each in candidates_of(assignment) if not names or each.name in names]
    with _handed_in(candidates) as (folder, submissions):
        only = {each.name: (each.part.name,) for each in candidates if each.part is not None}
        job = Job(assignment, submissions, folder / "grades", again=True, only_for=only, keep_traces=True)
        grades = {done.grade.submission: done.grade for done in grade_all(job, session, graders)}
        if not names:
            _write_bank(assignment, candidates, job.out)
    return judge(assignment, candidates, grades)


def candidates_of(assignment: Assignment) -> list[Candidate]:
    """Everything that validation grades, in the order in which it is reported.

    All come with the weights of the reference: what knows nothing must not earn by weights that were copied.
    """
    weights = weights_in(assignment.solutions)
    references = {part.file: assignment.reference(part).read_text(encoding="utf-8") for part in assignment.parts}
    starter = {name: data.decode() for name, data in make_starter(assignment).items() if name.endswith(".py")}
    candidates = [
        Candidate("reference", "reference", references, weights=weights),
        Candidate("starter", "starter", starter, weights=weights),
    ]
    for kind in KINDS:
        files = {part.file: trivial_source(references[part.file], part, kind) for part in assignment.parts}
        candidates.append(Candidate(f"trivial-{kind}", "trivial", files, weights=weights))
    for part in assignment.parts:
        for entry in bank(assignment, part):
            source = overlay(references[part.file], entry.path.read_text(encoding="utf-8"))
            files = {**references, part.file: source}
            name = f"{entry.kind}-{part.name}-{entry.name}"
            candidates.append(Candidate(name, entry.kind, files, part, entry, {**weights, **entry.weights()}))
    return candidates


def _write_bank(assignment: Assignment, candidates: Sequence[Candidate], out: Path) -> None:
    """Make the mistake bank anew from what the reference and each mistake gave."""

    def traces(name: str) -> tuple[CheckTrace, ...]:
        file = folder_of(out, name) / TRACES  # not there where the candidate could not be graded, which is told anyway
        return msgspec.msgpack.decode(file.read_bytes(), type=tuple[CheckTrace, ...]) if file.exists() else ()

    writer = BankWriter(traces("reference"), made_from(assignment))
    for candidate in candidates:
        entry = candidate.entry
        if candidate.kind == "mistake" and entry is not None and not entry.crashes:
            writer.add(candidate.name, entry.diagnosis, traces(candidate.name), entry.source())
    write_atomically(bank_file(assignment), writer.to_bytes())


@contextmanager
def _handed_in(candidates: Sequence[Candidate]) -> Generator[tuple[Path, list[Submission]]]:
    with tempfile.TemporaryDirectory(prefix="softmark-validate-") as top:
        submissions: list[Submission] = []
        for candidate in candidates:
            folder = Path(top) / "handed_in" / candidate.name
            folder.mkdir(parents=True)
            for name, text in candidate.files.items():
                (folder / name).write_text(text, encoding="utf-8")
            for name, data in candidate.weights.items():
                (folder / name).write_bytes(data)
            submissions.append(Submission(name=candidate.name, path=folder))
        yield Path(top), submissions


# ------------------------------------------------------------------ what each must get


def judge(assignment: Assignment, candidates: Sequence[Candidate], grades: Mapping[str, Grade]) -> Report:
    """Compare each candidate's grade with what it must be."""
    shortfalls: list[Shortfall] = []
    matrix: dict[str, tuple[str, ...]] = {}
    for candidate in candidates:
        grade = grades[candidate.name]
        shortfalls += [Shortfall(candidate.name, sentence) for sentence in _shortfalls(candidate, grade)]
        if candidate.kind == "mistake":
            matrix[candidate.name] = tuple(check.number for check in grade.checks if not _is_right(check))
    fell_short = {each.candidate for each in shortfalls}
    mistakes = [each.name for each in candidates if each.kind == "mistake"]
    variants = [each.name for each in candidates if each.kind == "variant"]
    return Report(
        assignment=assignment.name,
        reference=_points(grades.get("reference")),
        starter=_points(grades.get("starter")),
        mistakes=len(mistakes),
        caught=sum(name not in fell_short for name in mistakes),
        variants=len(variants),
        right=sum(name not in fell_short for name in variants),
        shortfalls=tuple(shortfalls),
        matrix=matrix,
        only_killers=_only_killers(grades.get("reference"), matrix),
    )


def _shortfalls(candidate: Candidate, grade: Grade) -> list[str]:
    if (grade.status != "graded" and candidate.part is None) or grade.status == "ungraded":
        return [f"could not be graded: {grade.reason}"] + [c.staff for c in grade.checks if c.outcome == "broken"]
    broken = [check for check in grade.checks if check.outcome == "broken"]
    if broken:
        return [f"check {check.number} ({check.name}) broke: {check.staff.strip()}" for check in broken]
    if candidate.kind in ("reference", "variant"):
        return [_lost(check) for check in grade.checks if not _is_right(check)]
    if candidate.kind in ("starter", "trivial"):
        dead = [check.number for check in grade.checks if check.outcome in ("not_run", "crashed", "timed_out")]
        return [f"does not even run: check {', '.join(dead)}"] * (candidate.kind == "starter" and bool(dead)) + [
            f"must earn nothing, but check {check.number} ({check.name}) gave it {check.score:g} of {check.weight:g}"
            for check in grade.checks
            if check.score > 0 or (check.weight == 0 and check.outcome == "passed")
        ]
    assert candidate.entry is not None
    return _uncaught(candidate.entry, grade)


def _uncaught(entry: BankEntry, grade: Grade) -> list[str]:
    by_number = {check.number: check for check in grade.checks}
    unknown = [number for number in entry.caught_by if number not in by_number]
    if unknown:
        return [f"CAUGHT_BY names {', '.join(unknown)}, which is no check of its part"]
    passed = [number for number in entry.caught_by if _is_right(by_number[number])]
    if passed:
        others = ", ".join(check.number for check in grade.checks if not _is_right(check)) or "none"
        return [f"must fail check {', '.join(passed)}, but passes it (it fails: {others})"]
    if not entry.crashes:
        crashed = [check.number for check in grade.checks if check.outcome in ("crashed", "timed_out", "not_run")]
        if crashed:
            return [f"crashes or hangs in check {', '.join(crashed)}; if that is meant, say CRASHES = True"]
    return []


def _is_right(check: CheckResult) -> bool:
    return check.outcome == "passed"


def _lost(check: CheckResult) -> str:
    told = check.explanation
    why = "" if told is None else "; ".join(text for text in (told.case, told.expected, told.got, told.cause) if text)
    return f"must pass check {check.number} ({check.name}), but {check.outcome}: {why or check.staff}"


def _points(grade: Grade | None) -> str:
    return "not graded" if grade is None or grade.points is None else f"{grade.points:g}/{grade.maximum:g}"


def _only_killers(reference: Grade | None, matrix: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """For each check the mistakes that it alone catches."""
    if reference is None:
        return {}
    return {
        check.number: tuple(name for name, killers in matrix.items() if killers == (check.number,))
        for check in reference.checks
    }


def _print_matrix(report: Report) -> None:
    for name, killers in report.matrix.items():
        print(f"{name}: fails {', '.join(killers) or 'nothing'}")
    print()
    for number, mistakes in report.only_killers.items():
        print(f"check {number} alone catches {len(mistakes)}: {', '.join(mistakes) or '-'}")
    print()
