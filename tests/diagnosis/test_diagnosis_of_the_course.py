"""The banks that lie with the solutions: each mistake laid over all others of its bank.

A mistake's own traces are made anew from what the bank holds of it: what it holds nothing of agrees with nothing.
"""

from pathlib import Path

import pytest

from autograder.diagnosis.diagnosis import MOST_NAMED, Diagnosis
from autograder.diagnosis.fingerprint import Fingerprint
from autograder.diagnosis.mistake_bank import Bank, Failure
from autograder.diagnosis.traces import CheckTrace, ItemTrace

BANKS = sorted((Path(__file__).parents[2] / "solutions").glob("*/bank.msgpack"))
UNKNOWN = Fingerprint("unknown")


def item_of(failure: Failure | None) -> ItemTrace:
    """The trace of an item that fails so."""
    if failure is None:
        return ItemTrace()
    values = [UNKNOWN] * failure.length
    for place, value in failure.earlier:
        values[place] = value
    if failure.value is not None:
        values[-1] = failure.value
    return ItemTrace(tuple(values), failure.ending, failure.by_value)


def named(bank: Bank, name: str) -> dict[str, tuple[str, ...]]:
    """What is named for each check that this mistake fails."""
    diagnosis = Diagnosis(bank)
    checks = bank.mistakes[name].checks
    for number, failures in checks.items():
        functions = bank.functions.get(number, ())
        diagnosis.see(CheckTrace(number, tuple(map(item_of, failures)), functions))
    return {number: diagnosis.names(number) for number, failures in checks.items() if any(failures)}


@pytest.mark.parametrize("path", BANKS, ids=lambda path: path.parent.name)
def test_no_mistake_is_ever_called_another_one(path: Path) -> None:
    bank = Bank.load(path)
    wrong = {
        (name, number): found
        for name in bank.mistakes
        for number, found in named(bank, name).items()
        if found and name not in found
    }
    assert bank.mistakes and not wrong


@pytest.mark.parametrize("path", BANKS, ids=lambda path: path.parent.name)
def test_nine_mistakes_of_ten_are_named_in_a_check_that_they_fail(path: Path) -> None:
    bank = Bank.load(path)
    silent = [
        name for name in bank.mistakes if not any(0 < len(found) <= MOST_NAMED for found in named(bank, name).values())
    ]
    assert len(silent) <= len(bank.mistakes) / 10, silent


@pytest.mark.parametrize("path", BANKS, ids=lambda path: path.parent.name)
def test_every_mistake_has_a_sentence_that_ends(path: Path) -> None:
    sentences = [mistake.sentence for mistake in Bank.load(path).mistakes.values()]
    assert sentences and all(sentence.endswith((".", "!", ")")) for sentence in sentences)
