"""`softmark validate --suggest`: changes of the reference that the checks catch, proposed as mistakes for the bank.

Each is tried as the file that it would be. Left out is what behaves like a mistake that is there already, or like
another proposal; what only raises an error, hangs or crashes; and what no check notices, which is listed: a check may
be missing. `--accept NAME` writes a proposal into the bank.
"""

from __future__ import annotations

import difflib
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from autograder.assignment.assignment import Assignment, Part, load_assignment
from autograder.assignment.bank import overlay
from autograder.authoring.mutation.mutants import mutants_of, sample
from autograder.authoring.mutation.proposals import Proposal, proposals_of
from autograder.authoring.mutation.trial import Trial, TrialOutcome
from autograder.authoring.proof.candidates import Candidate
from autograder.authoring.proof.evidence import same_behaviour
from autograder.diagnosis.mistake_bank import KnownMistake
from autograder.errors import SoftmarkError
from autograder.grading.known_mistakes import bank_file, is_stale, load_bank
from autograder.run.session import Session

MOST = 60
SEED = 0
ALL = "all"
_SILENT = ("crashed", "timed_out", "not_run", "missing", "unreadable")


class Suggestion(msgspec.Struct, frozen=True):
    """A mistake that is not in the bank yet: its file's name and text, and where the reference was changed."""

    part: str
    name: str
    sentence: str
    fails: tuple[str, ...]
    line: int
    before: str
    after: str
    text: str


class Unnoticed(msgspec.Struct, frozen=True):
    """A change that every check passes."""

    part: str
    where: str
    line: int
    before: str
    after: str


class Suggestions(msgspec.Struct, frozen=True):
    """What was found. `tried` of `possible` changes; `alike` behave as something else does, `silent` tell nothing."""

    assignment: str
    suggestions: tuple[Suggestion, ...]
    unnoticed: tuple[Unnoticed, ...]
    possible: int
    tried: int
    alike: int
    silent: int


def suggest(folder: Path, graders: int, as_json: bool) -> int:
    """Print what may become mistakes, and what no check notices."""
    assignment = load_assignment(folder)
    with Session() as session:
        session.wait_ready()
        if is_stale(assignment):
            print(
                f"softmark: {bank_file(assignment)} is older than the checks or solutions, so that a mistake may be "
                f"proposed which is there already: softmark validate {folder} makes a new one.",
                file=sys.stderr,
            )
        found = suggestions_for(assignment, session, graders)
    if as_json:
        sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
    else:
        _print(found, folder)
    return 0


def accept(folder: Path, names: Sequence[str], graders: int) -> int:
    """Write proposals into the bank and say where; 1 where one of them is no mistake or not a new one."""
    assignment = load_assignment(folder)
    with Session() as session:
        session.wait_ready()
        written, left = take_over(assignment, session, graders, names)
    for path, sentence in written.items():
        print(f"{path}: {sentence}")
    for name in left:
        print(f"{name}: not written: no check notices it, or nothing but an error, or the bank has its like or name.")
    if written:
        print("Students are told each docstring: say it in the words of your course, and validate once more.")
    return 1 if left else 0


def take_over(
    assignment: Assignment, session: Session, graders: int, names: Sequence[str]
) -> tuple[dict[Path, str], list[str]]:
    """Write the proposals named (or `ALL`) into the bank.

    Returns the files, each with its sentence, and the names of those that are no mistakes or not new ones. Raises
    `SoftmarkError` for a name that is that of no change.
    """
    found = suggestions_for(assignment, session, graders, () if ALL in names else names)
    written: dict[Path, str] = {}
    for each in found.suggestions:
        path = assignment.solutions / "mistakes" / each.part / f"{each.name}.py"
        if not path.exists():  # its docstring may have been rewritten
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(each.text, encoding="utf-8")
            written[path] = each.sentence
    return written, sorted(set(names) - {path.stem for path in written} - {ALL})


def suggestions_for(assignment: Assignment, session: Session, graders: int, names: Sequence[str] = ()) -> Suggestions:
    """Try changes of every part's reference (or those named) and sort what they give.

    Raises:
        SoftmarkError: where the reference does not pass its own checks, or a name is that of no change.
    """
    every = {part.name: _proposals(assignment, part) for part in assignment.parts}
    chosen = {name: _chosen(proposals, names) for name, proposals in every.items()}
    _refuse_unknown(names, every.values())
    parts = [part for part in assignment.parts if chosen[part.name]]
    found = _Found()
    if parts:
        trial = Trial(assignment, session, graders, parts)
        for part in parts:
            found.add(assignment, part, trial, chosen[part.name])
    return Suggestions(
        assignment=assignment.name,
        suggestions=tuple(found.suggestions),
        unnoticed=tuple(found.unnoticed),
        possible=sum(map(len, every.values())),
        tried=sum(map(len, chosen.values())),
        alike=found.alike,
        silent=found.silent,
    )


def _proposals(assignment: Assignment, part: Part) -> list[Proposal]:
    source = assignment.reference(part).read_text(encoding="utf-8")
    return proposals_of(source, mutants_of(part.name, source))


def _chosen(proposals: Sequence[Proposal], names: Sequence[str]) -> list[Proposal]:
    if names:
        return [each for each in proposals if each.name in names]
    few = set(map(id, sample([each.mutant for each in proposals], MOST, SEED)))
    return [each for each in proposals if id(each.mutant) in few]


def _refuse_unknown(names: Sequence[str], every: Iterable[Sequence[Proposal]]) -> None:
    there = [each.name for proposals in every for each in proposals]
    for name in names:
        if name not in there:
            near = difflib.get_close_matches(name, there, n=1)
            mean = f"; did you mean {near[0]}?" if near else ": --suggest lists them."
            raise SoftmarkError(f"No change of the reference is called {name!r}{mean}")


class _Found:
    """What came of the changes so far."""

    def __init__(self) -> None:
        self.suggestions: list[Suggestion] = []
        self.unnoticed: list[Unnoticed] = []
        self.alike = 0
        self.silent = 0

    def add(self, assignment: Assignment, part: Part, trial: Trial, proposals: Sequence[Proposal]) -> None:
        """Try the changes of one part."""
        outcomes = _outcomes(part, trial, proposals)
        bank = load_bank(assignment).mistakes
        known = [each for name, each in bank.items() if name.startswith(f"mistake-{part.name}-")]
        kept: list[tuple[Proposal, KnownMistake]] = []
        for proposal in proposals:
            outcome = outcomes[proposal.name]
            if not outcome.killer:
                mutant = proposal.mutant
                self.unnoticed.append(Unnoticed(part.name, mutant.where, mutant.line, mutant.before, mutant.after))
            elif _tells_nothing(outcome):
                self.silent += 1
            else:
                behaviour = trial.behaviour(outcome, proposal.mutant, proposal.code)
                if any(same_behaviour(behaviour, other) for other in known):
                    self.alike += 1
                else:
                    known.append(behaviour)
                    kept.append((proposal, behaviour))
        self.suggestions += _suggestions(kept, known)


def _outcomes(part: Part, trial: Trial, proposals: Sequence[Proposal]) -> Mapping[str, TrialOutcome]:
    """Each proposal graded as the file that it would be."""
    candidates: list[Candidate] = []
    for each in proposals:
        source = overlay(trial.references[part.file], each.file(()))
        candidates.append(trial.candidate(each.name, part, source))
    checks = {each.name: trial.checks_for(each.mutant) for each in proposals}
    return {outcome.name: outcome for outcome in trial.in_all(candidates, checks)}


def _tells_nothing(outcome: TrialOutcome) -> bool:
    """Whether it crashes, hangs or breaks a check; or raises an error in every check that it fails."""
    if any(check.outcome in (*_SILENT, "broken") for check in outcome.grade.checks):
        return True
    items = [item for trace in outcome.traces for item in trace.items if item.ending]
    return not any(item.ending.startswith(("mismatch", "assertion")) for item in items)


def _suggestions(kept: Sequence[tuple[Proposal, KnownMistake]], known: Sequence[KnownMistake]) -> list[Suggestion]:
    """Each to be caught by that check, of those it fails, that the fewest fail: so every check proves its worth."""
    failed = [tuple(number for number, items in each.checks.items() if any(items)) for each in known]
    times = Counter(number for numbers in failed for number in numbers)
    suggestions: list[Suggestion] = []
    for proposal, behaviour in kept:
        fails = tuple(number for number, items in behaviour.checks.items() if any(items))
        rarest = min(fails, key=lambda number: times[number])
        mutant = proposal.mutant
        suggestions.append(
            Suggestion(
                part=mutant.part,
                name=proposal.name,
                sentence=proposal.sentence,
                fails=fails,
                line=mutant.line,
                before=mutant.before,
                after=mutant.after,
                text=proposal.file([rarest]),
            )
        )
    return suggestions


def _print(found: Suggestions, folder: Path) -> None:
    for each in found.suggestions:
        print(f"{each.name} (fails {', '.join(each.fails)}): {each.sentence}")
        _print_change(each.part, each.line, each.before, each.after)
    if found.unnoticed:
        print("\nNo check notices these. Each is as right as the reference, or shows that a check is missing:")
        for each in found.unnoticed:
            _print_change(each.part, each.line, each.before, each.after)
    print(
        f"\n{len(found.suggestions)} mistakes proposed of {found.tried} changes tried ({found.possible} are possible): "
        f"{found.alike} behave like another or one of the bank, {found.silent} raise an error, hang or crash, "
        f"{len(found.unnoticed)} are noticed by no check"
    )
    if found.suggestions:
        print(f"take them over: softmark validate {folder} --accept NAME (repeatable; {ALL}: every one)")


def _print_change(part: str, line: int, before: str, after: str) -> None:
    print(f"  {part}.py:{line}\n    - {before}\n    + {after}")
