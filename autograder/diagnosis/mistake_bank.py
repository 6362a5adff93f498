"""The mistake bank: what each known mistake gave at each check, on disk and in memory.

`softmark validate` makes it from the traces of the reference and of every mistake. The same traces give the same bytes.
It keeps a value only where a mistake differs from the reference, so no right answer can be read from it. It still tells
what mistakes give, so it stays with the solutions.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from autograder.diagnosis.fingerprint import Fingerprint, agree
from autograder.diagnosis.traces import CheckTrace, ItemTrace

AT_HOME = "@home"
"""Ends the number of a check that ran on the public key, as it does on a student's machine."""
_FORMAT = 1
# A mistake's value counts as different from the reference's beyond this many times the rounding that is allowed.
_APART = 4.0
_RICH = 24  # numbers that agree by the same mistake alone, whatever other checks give


class Failure(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a mistake fails one item of a check.

    Attributes:
        length: how many values had been compared when it failed.
        ending: as in `ItemTrace`.
        by_value: as in `ItemTrace`.
        value: the one that failed, if it differs from the reference's.
        earlier: values compared before it that passed and differ from the reference's, each with its place.
    """

    length: int
    ending: str
    by_value: bool = False
    value: Fingerprint | None = None
    earlier: tuple[tuple[int, Fingerprint], ...] = ()

    @property
    def telling(self) -> bool:
        """Whether agreeing with this value is evidence by itself."""
        return self.by_value and self.value is not None and self.value.telling

    @property
    def is_rich(self) -> bool:
        """Whether it holds so many numbers that they agree by the same mistake alone."""
        return self.telling and self.value is not None and math.prod(self.value.shape) >= _RICH

    def is_that_of(self, item: ItemTrace, times: float = 1.0) -> bool:
        """Whether `item` failed here in the same way, with the same value (within `times` rounding), after the same."""
        if (self.length, self.ending, self.by_value) != (len(item.values), item.ending, item.by_value):
            return False
        if self.by_value and (self.value is None or not agree(self.value, item.values[-1], times)):
            return False
        return all(agree(value, item.values[place], times) for place, value in self.earlier)


class KnownMistake(msgspec.Struct, frozen=True):
    """One mistake.

    Attributes:
        sentence: what a student is told.
        checks: for each check it was tried on, how it fails each item; None where it passes.
        defines: the names it defines, and so the functions that it is a mistake in.
        made_from: a hash of everything that this depends on: validation runs the mistake again only when it changes.
    """

    sentence: str
    checks: dict[str, tuple[Failure | None, ...]]
    defines: tuple[str, ...] = ()
    made_from: str = ""


class _BankFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: int
    made_from: str
    functions: dict[str, tuple[str, ...]]
    mistakes: dict[str, KnownMistake]


@dataclass(frozen=True)
class Bank:
    """The mistakes of an assignment, by name.

    Attributes:
        mistakes: in the order of their names.
        functions: for each check, the names of the student's that it calls.
        made_from: a hash of the checks and solutions it was made from, given by the caller.
    """

    mistakes: Mapping[str, KnownMistake] = field(default_factory=dict[str, KnownMistake])
    functions: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, "tuple[str, ...]"])
    made_from: str = ""

    @classmethod
    def load(cls, path: Path, made_from: str | None = None) -> Bank:
        """The bank in that file; an empty one if it cannot be read.

        Args:
            path: written from `BankWriter.to_bytes`.
            made_from: if given, a bank made from something else is not used, since its values are out of date.
        """
        try:
            file = msgspec.msgpack.decode(path.read_bytes(), type=_BankFile, strict=True)
        except (OSError, msgspec.DecodeError):
            return cls()
        if file.format != _FORMAT or (made_from is not None and file.made_from != made_from):
            return cls()
        return cls(file.mistakes, file.functions, file.made_from)

    def at_home(self, public: Collection[str] = ()) -> Bank:
        """The bank for students' machines: what is known of the visible checks on the public key.

        Mistakes are numbered, and of the names that they define only those in `public` are told.
        """
        functions = {
            number: names for number, names in self.functions.items() if f"{number}{AT_HOME}" in self.functions
        }
        told: dict[str, KnownMistake] = {}
        for place, mistake in enumerate(self.mistakes.values()):
            checks = {
                number: failures if not any(failures) else mistake.checks.get(f"{number}{AT_HOME}", ())
                for number, failures in mistake.checks.items()
                if number in functions
            }
            defines = tuple(name for name in mistake.defines if name in public)
            told[f"{place:04}"] = KnownMistake(
                mistake.sentence, {n: each for n, each in checks.items() if each}, defines
            )
        return Bank(told, functions)

    def to_bytes(self) -> bytes:
        """The file's content, the same for the same bank."""
        file = _BankFile(_FORMAT, self.made_from, dict(self.functions), dict(self.mistakes))
        return msgspec.msgpack.encode(file, order="deterministic")


class BankWriter:
    """Makes a bank from the traces of the reference and of each mistake."""

    def __init__(self, reference: Iterable[CheckTrace], made_from: str = "") -> None:
        """`reference` is the trace of every check by the reference solution, with all values (`keep_all`)."""
        self._reference = {trace.number: trace for trace in reference}
        self._mistakes: dict[str, KnownMistake] = {}
        self._made_from = made_from

    def add(
        self,
        name: str,
        sentence: str,
        traces: Iterable[CheckTrace],
        source: str = "",
        *,
        unaffected: Iterable[str] = (),
        made_from: str = "",
    ) -> None:
        """Add a mistake.

        Args:
            name: of its file.
            sentence: for students.
            traces: of every check that it was tried on.
            source: its code. The names that it defines are read from it without running it.
            unaffected: checks that it was not tried on because they call nothing that it defines: it passes them.
            made_from: as in `KnownMistake`.
        """
        checks: dict[str, tuple[Failure | None, ...]]
        checks = {n: (None,) * len(self._reference[n].items) for n in unaffected if n in self._reference}
        for trace in traces:
            failures = self.failures(trace)
            if failures is not None:
                checks[trace.number] = failures
        self._mistakes[name] = KnownMistake(sentence, dict(sorted(checks.items())), _defined_in(source), made_from)

    def keep(self, name: str, known: KnownMistake) -> None:
        """Add a mistake as an earlier bank has it."""
        self._mistakes[name] = known

    def failures(self, trace: CheckTrace) -> tuple[Failure | None, ...] | None:
        """How each item of a check fails, compared with the reference; None where the trace tells nothing."""
        reference = self._reference.get(trace.number)
        if reference is None or len(reference.items) != len(trace.items) or not trace.tells:
            return None
        return tuple(map(_failure, trace.items, reference.items))

    def bank(self) -> Bank:
        """The bank of what was added so far."""
        functions = {number: trace.functions for number, trace in sorted(self._reference.items())}
        return Bank(dict(sorted(self._mistakes.items())), functions, self._made_from)

    def to_bytes(self) -> bytes:
        """The file's content: the same for the same traces, in whatever order they were added."""
        return self.bank().to_bytes()


def _defined_in(source: str) -> tuple[str, ...]:
    body = ast.parse(source).body
    return tuple(node.name for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef)))


def _failure(item: ItemTrace, reference: ItemTrace) -> Failure | None:
    if not item.ending:
        return None
    passed = item.values[:-1] if item.by_value else item.values
    return Failure(
        length=len(item.values),
        ending=item.ending,
        by_value=item.by_value,
        value=_if_other(item, reference, len(item.values) - 1) if item.by_value else None,
        earlier=tuple(
            (place, value) for place in range(len(passed)) if (value := _if_other(item, reference, place)) is not None
        ),
    )


def _if_other(item: ItemTrace, reference: ItemTrace, place: int) -> Fingerprint | None:
    """The value at that place; None if it is the reference's up to rounding."""
    value = item.values[place]
    if place < len(reference.values) and agree(value, reference.values[place], _APART):
        return None
    return value
