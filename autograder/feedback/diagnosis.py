"""The likely cause of a failing check: the known mistake that gives exactly what the student's code gave.

Seeds are fixed, so a mistake gives every student the same values. It is named where it agrees with the student's code
at the comparison that failed and before, and nothing else the student's code did speaks against it. Values that many
mistakes give (all zero, all NaN, an exception) are no evidence by themselves: then code and mistake must agree in
every check of the functions concerned. Where most of what fails there is explained by no mistake, it is one that the
bank does not know, and none is named. It says nothing rather than something wrong; then `hints` may.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from autograder.feedback.mistake_bank import Bank, Failure, KnownMistake
from autograder.feedback.traces import CheckTrace, ItemTrace
from autograder.results import CheckResult

MOST_NAMED = 3
_SURELY_OTHER = 16.0


class Diagnosis:
    """What the bank knows of one submission. Feed it every check with `see`, then ask.

    Args:
        bank: what each mistake gave.
    """

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self._seen: dict[str, CheckTrace] = {}
        self._known: dict[str, tuple[str, ...]] = {}

    def see(self, trace: CheckTrace) -> None:
        """One check has run, passed or not."""
        if trace.was_run:
            self._seen[trace.number] = trace
            self._known.clear()

    def names(self, number: str) -> tuple[str, ...]:
        """The mistakes that explain why that check failed, by name: several where they cannot be told apart."""
        fitting = self._fitting(number)
        failing = [each for each in self._seen if self._related(each, number) and self._first_failing(each) is not None]
        if not fitting or 2 * sum(bool(self._fitting(each)) for each in failing) < len(failing):
            return ()
        mistakes = self._bank.mistakes
        explained = {name: sum(self._explains(mistakes[name], each) for each in self._seen) for name in fitting}
        return tuple(name for name in fitting if explained[name] == max(explained.values()))

    def cause(self, number: str) -> str:
        """The likely cause as a sentence, or up to three that cannot be told apart; "" where nothing is sure."""
        return in_words([self._bank.mistakes[name].sentence for name in self.names(number)])

    def _first_failing(self, number: str) -> int | None:
        trace = self._seen.get(number)
        return None if trace is None else next((i for i, item in enumerate(trace.items) if item.ending), None)

    def _fitting(self, number: str) -> tuple[str, ...]:
        """Every mistake that may be why that check failed."""
        place = self._first_failing(number)
        if place is None:
            return ()
        if number not in self._known:
            every = self._bank.mistakes.items()
            self._known[number] = tuple(name for name, mistake in every if self._fits(mistake, number, place))
        return self._known[number]

    def _fits(self, mistake: KnownMistake, number: str, place: int) -> bool:
        failure = _at(mistake, number, place)
        if failure is None or not failure.is_that_of(self._seen[number].items[place]):
            return False
        seen = [each for each in self._seen if each in mistake.checks]
        related = [each for each in seen if self._related(each, number)]
        if not failure.telling:
            return all(self._agrees(mistake, each) for each in related)
        at_home = [each for each in seen if not self._called(each).isdisjoint(mistake.defines)]
        return not any(self._passes_what_fails(mistake, each) for each in related) and not any(
            self._fails_otherwise(mistake, each) for each in [*related, *at_home]
        )

    def _called(self, number: str) -> set[str]:
        return {name.partition(".")[0] for name in self._bank.functions.get(number, ())}

    def _related(self, a: str, b: str) -> bool:
        """Whether two checks call a function in common. What one calls says nothing of another function's callers."""
        return a == b or not self._called(a).isdisjoint(self._called(b))

    def _explains(self, mistake: KnownMistake, number: str) -> bool:
        place = self._first_failing(number)
        failure = None if place is None else _at(mistake, number, place)
        return place is not None and failure is not None and failure.is_that_of(self._seen[number].items[place])

    def _passes_what_fails(self, mistake: KnownMistake, number: str) -> bool:
        """Whether the code passed a comparison of this check that the mistake fails."""
        return any(
            failure is not None and (not item.ending or len(item.values) > failure.length)
            for item, failure in self._side_by_side(mistake, number)
        )

    def _fails_otherwise(self, mistake: KnownMistake, number: str) -> bool:
        """Whether in this check code and mistake both fail an item, and surely not alike.

        Two causes may give one value where sizes happen to fit (a factor of 2, where the width is 4), but not
        everywhere.
        """
        return any(
            failure is not None and bool(item.ending) and not failure.is_that_of(item, _SURELY_OTHER)
            for item, failure in self._side_by_side(mistake, number)
        )

    def _agrees(self, mistake: KnownMistake, number: str) -> bool:
        """Whether code and mistake pass the same items of this check, and fail the others alike."""
        return all(
            not item.ending if failure is None else failure.is_that_of(item)
            for item, failure in self._side_by_side(mistake, number)
        )

    def _side_by_side(self, mistake: KnownMistake, number: str) -> Iterator[tuple[ItemTrace, Failure | None]]:
        return zip(self._seen[number].items, mistake.checks[number], strict=False)


def _at(mistake: KnownMistake, number: str, place: int) -> Failure | None:
    failures = mistake.checks.get(number, ())
    return failures[place] if place < len(failures) else None


def in_words(sentences: Sequence[str]) -> str:
    """One sentence as it stands, two or three as alternatives, and nothing of more."""
    different = list(dict.fromkeys(sentences))
    if len(different) == 1:
        return different[0]
    if not different or len(different) > MOST_NAMED:
        return ""
    return "One of these: " + " ".join(f"({letter}) {each}" for letter, each in zip("abc", different, strict=False))


def with_causes(results: Iterable[CheckResult], diagnosis: Diagnosis) -> list[CheckResult]:
    """The results, each explanation with the cause that the bank knows; any other cause stays where it knows none."""
    told: list[CheckResult] = []
    for result in results:
        cause = diagnosis.cause(result.number) if result.explanation is not None else ""
        if cause and result.explanation is not None:
            explanation = msgspec.structs.replace(result.explanation, cause=cause)
            result = msgspec.structs.replace(result, explanation=explanation)
        told.append(result)
    return told
