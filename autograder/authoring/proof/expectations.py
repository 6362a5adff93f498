"""What each candidate must get, and a sentence for each expectation that does not hold. It grades nobody."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

from autograder.assignment.assignment import Assignment
from autograder.assignment.bank import BankEntry
from autograder.authoring.proof.candidates import Candidate
from autograder.report.view import explained
from autograder.results import CheckResult, Grade, Ours


class Shortfall(msgspec.Struct, frozen=True):
    """One expectation that does not hold, in a sentence."""

    candidate: str
    sentence: str


class ProofReport(msgspec.Struct, frozen=True, kw_only=True):
    """What validation found. `matrix` maps each mistake to the checks that it fails.

    `kept` says of how many mistakes only the checks named in CAUGHT_BY ran, since what the others give is known from
    an earlier run and nothing that it depends on has changed.
    """

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
    kept: int = 0

    def last_line(self) -> str:
        """The line that `validate` ends in."""
        return (
            f"reference {self.reference} · starter {self.starter} · mistakes {self.caught}/{self.mistakes} caught · "
            f"variants {self.right}/{self.variants} full marks"
        )


def judge(
    assignment: Assignment,
    candidates: Sequence[Candidate],
    grades: Mapping[str, Grade],
    known: Mapping[str, Sequence[str]] | None = None,
) -> ProofReport:
    """Compare each candidate's grade with what it must be.

    Args:
        assignment: whose candidates they are.
        candidates: in the order in which they are reported.
        grades: by name.
        known: of mistakes that did not run in every check, what else they are known to fail.
    """
    known = known or {}
    reference = grades.get("reference")
    broken = _broken(reference) if reference else set[str]()
    shortfalls: list[Shortfall] = []
    unproved: set[str] = set()
    matrix: dict[str, tuple[str, ...]] = {}
    for candidate in candidates:
        grade = grades[candidate.name]
        numbers = _numbers(candidate, reference or grade)
        told: set[str] = broken if grade is not reference else set()
        if candidate.kind == "trivial":
            told = told.union(assignment.earned_by_nothing)
        shortfalls += [Shortfall(candidate.name, sentence) for sentence in _shortfalls(candidate, grade, numbers, told)]
        if _broken(grade):
            unproved.add(candidate.name)
        if candidate.kind == "mistake":
            failed = {*failing(grade), *known.get(candidate.name, ())}
            matrix[candidate.name] = tuple(number for number in numbers if number in failed)
    fell_short = {each.candidate for each in shortfalls} | unproved
    mistakes = [each.name for each in candidates if each.kind == "mistake"]
    variants = [each.name for each in candidates if each.kind == "variant"]
    return ProofReport(
        assignment=assignment.name,
        reference=_points(reference),
        starter=_points(grades.get("starter")),
        mistakes=len(mistakes),
        caught=sum(name not in fell_short for name in mistakes),
        variants=len(variants),
        right=sum(name not in fell_short for name in variants),
        shortfalls=tuple(shortfalls),
        matrix=matrix,
        only_killers=_only_killers(reference, matrix),
        kept=len(known),
    )


def failing(grade: Grade) -> tuple[str, ...]:
    """The numbers of the checks that did not pass."""
    return tuple(check.number for check in grade.checks if not _is_right(check))


def _broken(grade: Grade) -> set[str]:
    return {check.number for check in grade.checks if check.outcome == "broken"}


def _numbers(candidate: Candidate, grade: Grade) -> tuple[str, ...]:
    """The checks of the candidate's part, or all."""
    part = candidate.part
    return tuple(check.number for check in grade.checks if part is None or check.part == part.name)


def _shortfalls(candidate: Candidate, grade: Grade, numbers: Collection[str], told: Collection[str]) -> list[str]:
    """What falls short. That a check is broken is said once, of the reference: `told` are the checks of which it is."""
    broken = [check for check in grade.checks if check.outcome == "broken"]
    if grade.status == "ungraded" or (grade.status != "graded" and candidate.part is None and not broken):
        return [f"could not be graded: {grade.reason}"]
    new = [check for check in broken if check.number not in told]
    if new:
        return [f"check {check.number} ({check.name}) is broken: {_where_it_broke(check)}" for check in new]
    if candidate.kind in ("reference", "variant"):
        return [_lost(check) for check in grade.checks if not (_is_right(check) or check.number in told)]
    if candidate.kind in ("starter", "trivial"):
        dead = [check.number for check in grade.checks if check.outcome in ("not_run", "crashed", "timed_out")]
        return [f"does not even run: check {', '.join(dead)}"] * (candidate.kind == "starter" and bool(dead)) + [
            f"must earn nothing, but check {check.number} ({check.name}) gave it {check.score:g} of {check.weight:g}"
            for check in grade.checks
            if check.number not in told and (check.score > 0 or (check.weight == 0 and check.outcome == "passed"))
        ]
    assert candidate.entry is not None
    return _uncaught(candidate.entry, grade, numbers)


def _uncaught(entry: BankEntry, grade: Grade, numbers: Collection[str]) -> list[str]:
    by_number = {check.number: check for check in grade.checks}
    unknown = [number for number in entry.caught_by if number not in numbers]
    if unknown:
        return [f"CAUGHT_BY names {', '.join(unknown)}, which is no check of its part"]
    passed = [number for number in entry.caught_by if number not in by_number or _is_right(by_number[number])]
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


def _where_it_broke(check: CheckResult) -> str:
    """The check's line, where that is known, and the error."""
    fault = check.reason
    return f"{fault.where}: {fault.error}".removeprefix(": ") if isinstance(fault, Ours) else check.staff


def _lost(check: CheckResult) -> str:
    told = explained(check)
    why = ""
    if told is not None:
        expected, got = told.expected and f"expected {told.expected}", told.got and f"got {told.got}"
        why = "; ".join(text for text in (told.case, expected, got, told.cause) if text)
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
