"""What the reference answered to the visible checks, on record: what students have in its place.

Recorded are the replies, item by item, with what was asked in outline: the exact words, numbers and shapes, and of
floating-point numbers a checksum up to rounding, since another processor may round what a check computes from its
draws otherwise. The same question asked again in one item (of a module whose parameters have changed meanwhile) is
answered in the order in which it was recorded.
"""

from __future__ import annotations

import dataclasses
import hashlib
from typing import Any, cast

import msgspec
import torch
from torch import Tensor

from autograder.assignment.assignment import Assignment
from autograder.diagnosis.fingerprint import Fingerprint, agree, fingerprint
from autograder.errors import GraderError, SoftmarkError
from autograder.grading.in_place import InThisProcess
from autograder.grading.line import Answering, Transport
from autograder.grading.plugin import Checks
from autograder.grading.pytest_session import with_checks
from autograder.grading.reference import Oracle, Reference
from autograder.grading.verdict import error_of
from autograder.sandbox.account import Account
from autograder.worker.protocol.messages import Reply, Request
from autograder.worker.protocol.wire import decode_reply, encode

ANSWERS, CAUSES = "answers.msgpack", "causes.msgpack"
"""What a student's machine has beside the visible checks: the recording, and the bank of known mistakes."""


class Answer(msgspec.Struct, frozen=True, array_like=True):
    """One reply, and what it is the reply to."""

    asked: str
    numbers: Fingerprint
    reply: bytes


class _Content(msgspec.Struct, frozen=True):
    classes: dict[str, list[str]]
    items: dict[str, list[Answer]]


class NotRecorded(GraderError):
    """A check asked the reference what it was not asked when its answers were recorded."""


class Recorder:
    """An oracle that keeps what another one answers."""

    def __init__(self, oracle: Oracle, parts: list[str]) -> None:
        self._oracle, self._parts = oracle, parts
        self._items: dict[str, list[Answer]] = {}

    def classes(self, part: str) -> frozenset[str] | None:
        return self._oracle.classes(part)

    def open(self, item: str) -> Transport:
        answers: list[Answer] = []
        self._items[item] = answers
        return _Kept(self._oracle.open(item), answers)

    def to_bytes(self) -> bytes:
        """The file of the recording: the same bytes for the same answers."""
        classes = {part: sorted(self.classes(part) or ()) for part in self._parts}
        return msgspec.msgpack.encode(_Content(classes, dict(sorted(self._items.items()))))


class _Kept:
    def __init__(self, transport: Transport, answers: list[Answer]) -> None:
        self._transport, self._answers = transport, answers

    def request(self, message: Request, answer: Answering | None = None) -> Reply:
        asked, numbers = _outline(message)
        reply = self._transport.request(message, answer)
        self._answers.append(Answer(asked, numbers, b"".join(encode(reply))))
        return reply

    def weigh(self, message: Request) -> tuple[Reply, Account | None]:
        return self.request(message), None


class Recording:
    """An oracle that gives recorded answers. Raises `msgspec.DecodeError` for what is no recording."""

    def __init__(self, answers: bytes) -> None:
        self._content = msgspec.msgpack.decode(answers, type=_Content)

    def classes(self, part: str) -> frozenset[str] | None:
        names = self._content.classes.get(part)
        return None if names is None else frozenset(names)

    def open(self, item: str) -> Transport:
        return _Replay(item, list(self._content.items.get(item, ())))


class _Replay:
    def __init__(self, item: str, answers: list[Answer]) -> None:
        self._item, self._answers = item, answers

    def request(self, message: Request, answer: Answering | None = None) -> Reply:
        asked, numbers = _outline(message)
        for place, known in enumerate(self._answers):
            if known.asked == asked and agree(known.numbers, numbers):
                del self._answers[place]
                return decode_reply(bytearray(known.reply))
        name = getattr(getattr(message, "target", None), "name", "") or "an object"
        raise NotRecorded(
            f"{self._item} asks the reference for {name} with values that are not on record: a visible check may "
            "ask it about values of `cases` alone, never about what a student returned."
        )

    def weigh(self, message: Request) -> tuple[Reply, Account | None]:
        return self.request(message), None


def _outline(message: Request) -> tuple[str, Fingerprint]:
    """What is asked: a hash of all that is exact in it, and a fingerprint of all its floating-point numbers."""
    numbers: list[Tensor] = []
    exact = hashlib.sha256(repr(_exact(message, numbers)).encode()).hexdigest()[:24]
    every = torch.cat(numbers) if numbers else torch.zeros(0, dtype=torch.float64)
    return exact, msgspec.structs.replace(fingerprint(every), entries=b"")


def _exact(value: Any, numbers: list[Tensor]) -> Any:
    """`value` as plain data that prints the same everywhere, each floating-point number moved to `numbers`."""
    if isinstance(value, Tensor):
        shape = (str(value.dtype), tuple(value.shape))
        if not value.is_floating_point():
            return (*shape, fingerprint(value).digest)
        numbers.append(value.detach().double().flatten())
        return shape
    if isinstance(value, float):
        numbers.append(torch.tensor([value], dtype=torch.float64))
        return "float"
    if isinstance(value, (list, tuple)):
        items = list(cast("list[Any] | tuple[Any, ...]", value))
        return "tuple" if isinstance(value, tuple) else "list", [_exact(item, numbers) for item in items]
    if isinstance(value, dict):
        return [(_exact(key, numbers), _exact(item, numbers)) for key, item in cast("dict[Any, Any]", value).items()]
    if dataclasses.is_dataclass(value):
        fields: dict[str, Any] = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return type(cast(object, value)).__name__, _exact(fields, numbers)
    return repr(value)


def recorded(assignment: Assignment) -> bytes:
    """The reference's answers to the visible checks on the public key.

    Raises `SoftmarkError` where the reference fails a visible check, which is named.
    """
    reference = Reference(assignment)
    recorder = Recorder(reference, [part.name for part in assignment.parts])
    checks = Checks(assignment, recorder, visible_only=True)
    subject = InThisProcess(reference.worker, assignment.solutions)

    def work() -> None:
        for check in checks.checks:
            error = next((error_of(item) for item in checks.run(check, subject).items if error_of(item)), None)
            if error is not None:
                raise SoftmarkError(
                    f"The reference fails the visible check {check.number} ({type(error).__name__}: {error}), so that "
                    f"its answers cannot be recorded: softmark validate {assignment.folder} says more.",
                    exit_code=1,
                )

    with_checks(checks, work)
    return recorder.to_bytes()
