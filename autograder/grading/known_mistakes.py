"""The mistake bank of an assignment in grading: where its file is, whether it is current, and what a run adds to it.

`softmark validate` makes `solutions/<assignment>/bank.msgpack`, and every grader reads it. `diagnosis.mistake_bank`
says what is in it, `diagnosis.diagnosis` how it is compared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path

from autograder.assignment.assignment import Assignment
from autograder.assignment.leftovers import meant_files
from autograder.diagnosis.mistake_bank import Bank
from autograder.diagnosis.traces import CheckTrace, trace_item
from autograder.errors import SoftmarkError
from autograder.grading.plugin import CheckRun
from autograder.grading.verdict import error_of

FILE = "bank.msgpack"


def bank_file(assignment: Assignment) -> Path:
    """Where the bank is: with the solutions, since it tells what wrong answers give."""
    return assignment.solutions / FILE


def made_from(assignment: Assignment, without: Collection[str] = ()) -> str:
    """A hash of what the values in the bank depend on: checks, keys and solutions, `without` some of their folders."""
    digest = hashlib.sha256(assignment.key)
    for folder in (assignment.folder / "checks", assignment.solutions):
        for path in meant_files(folder):
            name = path.relative_to(folder)
            if name.parts[0] in without or not (path.suffix in (".py", ".safetensors") or path.name == "key"):
                continue
            digest.update(f"{name.as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def load_bank(assignment: Assignment) -> Bank:
    """The bank; an empty one if there is none, or if it was made from other checks or solutions."""
    return Bank.load(bank_file(assignment), made_from(assignment))


def bank_at_home(assignment: Assignment) -> bytes:
    """The file of known mistakes that students get. Raises `SoftmarkError` where the bank is missing or stale."""
    bank = load_bank(assignment)
    if not bank.made_from:
        raise SoftmarkError(
            f"{bank_file(assignment)} is missing, or older than the checks or solutions: make it with softmark "
            f"validate {assignment.folder}, so that students are told what they misunderstood.",
            exit_code=1,
        )
    names = {name.partition(".")[0] for part in assignment.parts for name in (*part.functions, *part.bonus)}
    return bank.at_home(names).to_bytes()


def is_stale(assignment: Assignment) -> bool:
    """Whether there is a bank, and it was made from other checks or solutions than are there now."""
    return bank_file(assignment).is_file() and Bank.load(bank_file(assignment)).made_from != made_from(assignment)


def trace_of(run: CheckRun, *, keep_all: bool = False) -> CheckTrace:
    """What a check saw of the code that it checked."""
    functions: dict[str, None] = {}
    for item in run.items:
        functions.update(dict.fromkeys(item.line.log.functions))
    items = tuple(trace_item(item.comparisons, error_of(item), keep_all=keep_all) for item in run.items)
    return CheckTrace(run.check.number, items, tuple(functions), bonus=run.check.counted == 0)
