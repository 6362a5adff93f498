"""The grader tested by machine: small changes of the reference, each of which some check must notice.

    python -m benchmarks.mutation [--part PART] [--function NAME] [--subtle] [--most N] [--seed N] [-j N]

Changes are made by syntax tree (`autograder.authoring.mutation`), chosen by seed, graded in the warm pool like
submissions, each in the checks of its part up to the first that fails. A change that none notices is a survivor. The
file `equivalent_mutants.toml` holds the survivors that are no mistakes, each with the reason why nothing can tell; any
other one is printed with its line, and ends the run with exit code 1: it needs a check, or a reason. It takes some
minutes, so it is asked for by itself.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import msgspec

from autograder.assignment.assignment import Part, load_assignment
from autograder.authoring.mutation.mutants import Mutant, mutants_of, sample
from autograder.authoring.mutation.trial import Trial
from autograder.progress import Progress
from autograder.run.session import Session
from benchmarks.measure import Row, print_table

Identity = tuple[str, str, str, str, int]

ROOT = Path(__file__).resolve().parents[1]
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.toml")
MOST, SEED = 120, 8


class Equivalent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A change that is no mistake. `occurrence` tells lines of a function that are the same apart."""

    part: str
    where: str
    before: str
    after: str
    reason: str
    occurrence: int = 1

    @property
    def identity(self) -> Identity:
        return (self.part, self.where, self.before, self.after, self.occurrence)


class _Equivalents(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    mutant: tuple[Equivalent, ...] = ()


class Result(msgspec.Struct, frozen=True):
    """What became of one part's changes. `broken` could not be judged, for a reason that is not theirs."""

    part: str
    tried: int
    survivors: tuple[Mutant, ...]
    broken: tuple[Mutant, ...]
    killers: dict[str, int]
    seconds: float


def equivalents(path: Path = EQUIVALENT) -> dict[Identity, Equivalent]:
    """The changes known to be no mistakes, by identity."""
    found = msgspec.toml.decode(path.read_bytes(), type=_Equivalents).mutant
    return {each.identity: each for each in found}


def stale(known: Iterable[Equivalent], mutants: Iterable[Mutant]) -> list[Equivalent]:
    """Entries of the file that no change of the reference has any more."""
    there = {each.identity for each in mutants}
    return [each for each in known if each.identity not in there]


def try_part(trial: Trial, part: Part, mutants: Sequence[Mutant], known: Collection[Identity] = ()) -> Result:
    """Grade the changes of one part. Survivors that are not `known` to be harmless are printed as they come."""
    named = {f"{part.name}-{place:04}": mutant for place, mutant in enumerate(mutants)}
    start = time.monotonic()
    checks = {name: trial.checks_for(mutant) for name, mutant in named.items()}
    killers: Counter[str] = Counter()
    survivors: list[Mutant] = []
    broken: list[Mutant] = []
    with Progress(len(mutants), f"changes of {part.name} tried") as progress:
        for outcome in trial.until_one_fails([trial.mutant(each, name) for name, each in named.items()], checks):
            mutant = named[outcome.name]
            if outcome.grade.status == "ungraded" or any(each.outcome == "broken" for each in outcome.grade.checks):
                print(f"could not be judged ({outcome.grade.reason}): {mutant}", flush=True)
                broken.append(mutant)
            elif outcome.killer:
                killers[outcome.killer] += 1
            else:
                survivors.append(mutant)
                if mutant.identity not in known:
                    print(f"no check notices {mutant}", flush=True)
            progress.step()
    return Result(part.name, len(mutants), tuple(survivors), tuple(broken), dict(killers), time.monotonic() - start)


def rows(results: Sequence[Result], known: Iterable[Identity]) -> list[Row]:
    """For each part, and for all: how many changes the checks notice of those that are mistakes."""
    known = set(known)
    counts = [(r.part, r.tried, *_split(r, known), r.seconds) for r in results]
    totals = ("all", *(sum(column) for column in list(zip(*counts, strict=True))[1:]))
    return [_row(*each) for each in (*counts, *([totals] if len(counts) > 1 else []))]  # pyright: ignore[reportArgumentType]


def _split(result: Result, known: set[Identity]) -> tuple[int, int]:
    equivalent = sum(each.identity in known for each in result.survivors)
    return equivalent, len(result.survivors) - equivalent


def _row(part: str, tried: int, equivalent: int, unexplained: int, seconds: float) -> Row:
    noticed, mistakes = tried - equivalent - unexplained, tried - equivalent
    figure = f"{noticed}/{mistakes} noticed ({100 * noticed / max(mistakes, 1):.1f} %)"
    what = f"{part}: {tried} changes, {equivalent} of them no mistakes, {seconds:.0f} s"
    return Row(what, figure, "all", unexplained == 0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the changes that were asked for, print survivors and the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutation", description=__doc__.partition("\n")[0])
    parser.add_argument("--assignment", type=Path, default=ROOT / "assignments" / "08_transformers")
    parser.add_argument("--part", action="append", help="only this part (repeatable)")
    parser.add_argument("--function", action="append", help="only this function or class (repeatable)")
    parser.add_argument("--subtle", action="store_true", help="changes that are right in ordinary cases")
    parser.add_argument("--most", type=int, default=MOST, help=f"changes a part (default {MOST})")
    parser.add_argument("--seed", type=int, default=SEED, help=f"which of them (default {SEED})")
    parser.add_argument("-j", dest="graders", type=int, default=2, help="graders side by side (default 2)")
    asked = parser.parse_args(arguments)
    assignment = load_assignment(asked.assignment)
    parts = [part for part in assignment.parts if not asked.part or part.name in asked.part]
    if not parts:
        parser.error(f"no part is called {asked.part[0]}; there are: {', '.join(p.name for p in assignment.parts)}")
    sources = {part.name: assignment.reference(part).read_text(encoding="utf-8") for part in parts}
    plain, subtle = ({n: mutants_of(n, source, subtle=each) for n, source in sources.items()} for each in (False, True))
    every = {
        name: [each for each in mutants if not asked.function or each.top in asked.function]
        for name, mutants in (subtle if asked.subtle else plain).items()
    }
    known = equivalents()
    there = [mutant for each in (plain, subtle) for mutants in each.values() for mutant in mutants]
    outdated = stale([each for each in known.values() if each.part in plain], there)
    with Session() as session:
        session.wait_ready()
        trial = Trial(assignment, session, asked.graders, parts)
        results = [try_part(trial, part, sample(every[part.name], asked.most, asked.seed), known) for part in parts]
    for each in outdated:
        print(f"{EQUIVALENT.name} names a change that there is no more: {each.part}, {each.where}: {each.after}")
    table = rows(results, known)
    print_table(table)
    return 1 if outdated or any(result.broken for result in results) or not all(row.holds for row in table) else 0


if __name__ == "__main__":
    sys.exit(main())
