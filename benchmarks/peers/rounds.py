"""Rounds of all graders in turn, and what comes of them."""

from __future__ import annotations

import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from autograder.testing.cases import SIZES_OF_ATTENTION
from benchmarks.measure import Row
from benchmarks.peers import six_checks
from benchmarks.peers.graders import AT_MOST, GradescopeUtils, Nbgrader, NbgraderBatch, Otter, Pytest, Softmark

ROUNDS = 5
CLASS, LARGE_CLASS = 200, 600
LIMITS = {"gradescope-utils": 25, "otter": 75, "nbgrader, its batch": 40}
MARGINAL = 35  # times as cheap as gradescope-utils, a class of 600 less one of 200


@dataclass(frozen=True)
class Peers:
    """Median seconds a submission, by name and number at a time; and of one more for Softmark."""

    seconds: dict[tuple[str, int], float]
    one_more: float

    def times(self, name: str, at_a_time: int = AT_MOST) -> float:
        """How many times as long as Softmark."""
        return self.seconds[name, at_a_time] / self.seconds["softmark", at_a_time]


def measured(rounds: int = ROUNDS) -> Peers:
    """Grade with each, round by round. Raises `AssertionError` where a grader does not give full marks."""
    assert six_checks.SIZES == SIZES_OF_ATTENTION
    taken: dict[tuple[str, int], list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="softmark-peers-") as top:
        Path(top).chmod(0o755)
        own, large = Softmark(Path(top), CLASS), Softmark(Path(top), LARGE_CLASS)
        peers = [kind(Path(top)) for kind in (GradescopeUtils, Pytest, Otter, Nbgrader, NbgraderBatch)]
        turns = [(grader, at) for at in (AT_MOST, 1) for grader in (own, *peers)] + [(large, AT_MOST)]
        for _ in range(rounds):
            for grader, at_a_time in turns:
                start = time.perf_counter()
                grader.run(at_a_time)
                taken.setdefault((grader.name, at_a_time), []).append(time.perf_counter() - start)
                assert grader.points() == 6, f"{grader.name} gives {grader.points()} points for the solution"
    whole = {key: statistics.median(times) for key, times in taken.items()}
    seconds = {(grader.name, at): whole[grader.name, at] / grader.submissions for grader, at in turns[:-1]}
    one_more = (whole[large.name, AT_MOST] - whole[own.name, AT_MOST]) / (LARGE_CLASS - CLASS)
    return Peers(
        {("softmark" if grader == own.name else grader, at): each for (grader, at), each in seconds.items()}, one_more
    )


def print_rounds(found: Peers) -> None:
    """A table: seconds a submission at one and at two at a time, and the ratio to Softmark's."""
    print(f"{'':<24}{'one at a time':>24}{'two at a time':>24}")
    for name in dict.fromkeys(name for name, _ in found.seconds):
        cells = [f"{found.seconds[name, at]:.3f} s {found.times(name, at):>6.1f} x" for at in (1, AT_MOST)]
        print(f"{name:<24}" + "".join(f"{cell:>24}" for cell in cells))
    print(f"{'softmark, one more':<48}{f'{found.one_more:.3f} s         ':>24}")


def rows() -> list[Row]:
    """The ratios at two at a time, with what they should reach."""
    found = measured()
    print_rounds(found)
    wanted = [(name, found.times(name), limit) for name, limit in LIMITS.items()]
    for_one_more = found.seconds["gradescope-utils", AT_MOST] / found.one_more
    wanted.append(("gradescope-utils, for one more submission", for_one_more, MARGINAL))
    return [
        Row(
            f"a class of {CLASS} x 6 checks against {name}",
            f"{times:.1f} times",
            f"at least {limit} times",
            times >= limit,
        )
        for name, times, limit in wanted
    ]
