"""The likely cause of a failing check: the known mistake that gives exactly what the student's code gave.

For each failing check:

1. Take the first item that failed. A mistake is a candidate if the bank holds the same fingerprint for it there: the
   same ending, after the same number of comparisons, with the same value.
2. Drop the candidate if the code passes a comparison that the mistake fails, in a check of the functions that this
   check calls.
3. Where mistake and code fail the items of these checks alike at most twice as often as with different values, drop the
   candidate if its value holds few numbers, which may agree by chance. One of many numbers is told as what it is: the
   mistake that gives these numbers in this case.
4. A value that many mistakes give (all zero, all NaN, an exception) speaks only if mistake and code agree in all of
   these checks, those apart that a known mistake in other functions explains.
5. A failing check that another known mistake explains is no evidence in 3: a submission may have two mistakes, and the
   cause of one check must not depend on what else fails.
6. Of the candidates left, name those that explain the most failing checks, up to three as alternatives. If there are
   more, name none.

Bonus checks are no evidence against a candidate, since few students have done them. Where the bank names nothing, the
sentence of `hints` stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from autograder.diagnosis.mistake_bank import Bank, Failure, KnownMistake
from autograder.diagnosis.traces import CheckTrace, ItemTrace
from autograder.results import CheckResult

MOST_NAMED = 3
_SURELY_OTHER = 16.0  # times the rounding that two ways to compute one value may differ by
_MORE_ALIKE = 2  # times as many items that fail alike as items that fail with other values


class Diagnosis:
    """What the bank knows of one submission. Feed it every check with `see`, then ask.

    Args:
        bank: what each mistake gave.
    """

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self._seen: dict[str, CheckTrace] = {}
        self._known: dict[str, tuple[str, ...]] = {}
        self._explained: dict[str, list[KnownMistake]] = {}

    def see(self, trace: CheckTrace) -> None:
        """One check has run, passed or not."""
        if trace.tells:
            self._seen[trace.number] = trace
            self._known.clear()
            self._explained.clear()

    def names(self, number: str) -> tuple[str, ...]:
        """The mistakes that explain why that check failed, by name: several where they cannot be told apart."""
        fitting = self._fitting(number)
        mistakes = self._bank.mistakes
        explained = {name: sum(self._explains(mistakes[name], each) for each in self._seen) for name in fitting}
        return tuple(name for name in fitting if explained[name] == max(explained.values()))

    def cause(self, number: str) -> str:
        """The likely cause as a sentence, or up to three that cannot be told apart; "" where nothing is sure."""
        mistakes = [self._bank.mistakes[name] for name in self.names(number)]
        told = in_words([each.sentence for each in mistakes])
        if not told or self._in_other_cases(number):
            return told
        return f"In this case your numbers are those of this mistake, in others not: {told}"

    def is_sure(self, number: str) -> bool:
        """Whether one mistake alone explains that check, and other cases bear it out."""
        sentences = {self._bank.mistakes[name].sentence for name in self.names(number)}
        return len(sentences) == 1 and self._in_other_cases(number)

    def _in_other_cases(self, number: str) -> bool:
        return any(self._is_borne_out(self._bank.mistakes[name], number) for name in self.names(number))

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
        related = [each for each in self._that_call(self._called(number), number) if each in mistake.checks]
        if any(self._passes_what_fails(mistake, each) for each in related):
            return False
        if not failure.telling:
            return all(self._agrees(mistake, each) or self._is_of_other_functions(mistake, each) for each in related)
        return failure.is_rich or self._is_borne_out(mistake, number)

    def _is_borne_out(self, mistake: KnownMistake, number: str) -> bool:
        """Whether the values of other checks agree as well, as far as no other known mistake explains them."""
        place = self._first_failing(number)
        failure = None if place is None else _at(mistake, number, place)
        if failure is None or not failure.telling:
            return failure is not None
        related = [each for each in self._that_call(self._called(number), number) if each in mistake.checks]
        at_home = [each for each in self._that_call(set(mistake.defines), number) if each in mistake.checks]
        evidence = [each for each in {*related, *at_home} if not self._has_another_cause(mistake, each)]
        alike, unlike = self._compare(mistake, evidence)
        return alike > _MORE_ALIKE * unlike

    def _has_another_cause(self, mistake: KnownMistake, number: str) -> bool:
        """Whether `mistake` does not explain why that check failed, and another one does by a telling value."""
        return not self._explains(mistake, number) and bool(self._explained_by_value(number))

    def _is_of_other_functions(self, mistake: KnownMistake, number: str) -> bool:
        return any(set(each.defines).isdisjoint(mistake.defines) for each in self._explained_by_value(number))

    def _explained_by_value(self, number: str) -> list[KnownMistake]:
        """The mistakes that fail that check with the very value, where it is a telling one."""
        place = self._first_failing(number)
        if place is None:
            return []
        if number not in self._explained:
            item, every = self._seen[number].items[place], self._bank.mistakes.values()
            failures = ((each, _at(each, number, place)) for each in every)
            self._explained[number] = [each for each, at in failures if at and at.telling and at.is_that_of(item)]
        return self._explained[number]

    def _called(self, number: str) -> set[str]:
        return {name.partition(".")[0] for name in self._bank.functions.get(number, ())}

    def _that_call(self, names: set[str], number: str) -> list[str]:
        """The checks that call one of `names`, bonus checks apart, and the check `number` itself."""
        return [
            each
            for each, trace in self._seen.items()
            if each == number or (not trace.bonus and not self._called(each).isdisjoint(names))
        ]

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

    def _compare(self, mistake: KnownMistake, numbers: Iterable[str]) -> tuple[int, int]:
        """How many items of these checks code and mistake fail alike, and how many with surely another value.

        Two causes may give the same value where sizes happen to fit (a factor of 2 where the width is 4), but not in
        all checks. Items that end in an exception are not counted as different.
        """
        alike, unlike = 0, 0
        for number in numbers:
            for item, failure in self._side_by_side(mistake, number):
                if failure is None or not item.ending:
                    continue
                if failure.is_that_of(item):
                    alike += 1
                elif item.by_value and failure.by_value and not failure.is_that_of(item, _SURELY_OTHER):
                    unlike += 1
        return alike, unlike

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
    """One sentence as it is, two or three as alternatives; "" for more than three."""
    different = list(dict.fromkeys(sentences))
    if len(different) == 1:
        return different[0]
    if not different or len(different) > MOST_NAMED:
        return ""
    return "One of these: " + " ".join(f"({letter}) {each}" for letter, each in zip("abc", different, strict=False))


def with_causes(results: Iterable[CheckResult], diagnosis: Diagnosis) -> list[CheckResult]:
    """The results with the causes that the bank knows. What the numbers of the case told stays where none is sure."""
    told: list[CheckResult] = []
    for result in results:
        cause = "" if result.explanation is None or result.hide_errors else diagnosis.cause(result.number)
        if cause and result.explanation is not None:
            own = "" if diagnosis.is_sure(result.number) else result.explanation.cause
            explanation = msgspec.structs.replace(result.explanation, cause=f"{cause} {own}".strip())
            result = msgspec.structs.replace(result, explanation=explanation)
        told.append(result)
    return told
