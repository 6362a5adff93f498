"""The line between one check and student code: requests go through a transport, replies become values or errors.

It keeps a log of what the check did. So the last call can be shown, and an `except` in a check cannot swallow the error
that student code is missing or dead.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Container
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, Protocol

from autograder import results
from autograder.errors import GraderError
from autograder.sandbox.account import Account
from autograder.student_error import StudentError, student_error
from autograder.worker.protocol.messages import (
    Advance,
    Call,
    CalledBack,
    Found,
    Gradients,
    Look,
    Measure,
    Measured,
    Misfit,
    Missing,
    Observe,
    Observed,
    OpenStream,
    Operate,
    Raised,
    Release,
    Reply,
    Request,
    Resume,
    Returned,
    Streamed,
    Target,
    Unmeasured,
    Unreadable,
    Vjp,
)
from autograder.worker.protocol.wire import Unencodable, encode

MOST_CALLBACKS = 10_000
MOST_CALLED_BACK = 64 << 20
"""Calls of callbacks in one item of a check, and the bytes that pass in them."""
Answering = Callable[[CalledBack], Resume]
_OWN_FILES = (__file__, str(Path(__file__).with_name("proxy.py")))


class CannotCross(TypeError):
    """A check passes something to student code that is no data. Its author's to change."""


class Undeclared(Exception):
    """Student code gave an object, and it is not known yet whether the reference gives one there."""


class _Anywhere(Container[str]):
    def __contains__(self, place: object) -> bool:
        return True


ANYWHERE = _Anywhere()
"""Objects are taken wherever they come: from the reference, and where there is nothing to compare with."""


class Transport(Protocol):
    """Carries one request to student code and its reply back. Raises `StudentError` if that dies or hangs."""

    def request(self, message: Request, answer: Answering | None = None) -> Reply:
        """`answer` carries out what student code calls back."""
        ...

    def weigh(self, message: Request) -> tuple[Reply, Account | None]:
        """As `request`, with the kernel's account of the call; None if there is none."""
        ...


@dataclass
class LastCall:
    """The latest call of a check: what its feedback is about."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    value: Any = None
    returned: bool = False


@dataclass
class Log:
    """What one check did through the proxy. `fatal` keeps an error that no `except` in a check may swallow."""

    last: LastCall | None = None
    fatal: StudentError | None = None
    functions: list[str] = field(default_factory=list[str])
    objects: set[str] = field(default_factory=set[str])  # where in the check objects came
    undeclared: bool = False
    strange: tuple[str, str] | None = None  # the last call, and the kind of the object it gave where none is expected
    unweighed: str = ""  # why the kernel's account of a call is missing or not safe


@dataclass
class Scale:
    """What the calls made inside `student.weighing()` took, by the kernel's account.

    Attributes:
        growth: bytes by which the process grew at most, in any of the calls; None where there is no account.
        written: bytes that the calls wrote to files.
        processes: whether they started other processes.
    """

    growth: int | None = None
    written: int = 0
    processes: bool = False

    def add(self, account: Account) -> None:
        """Take one more call into account."""
        self.growth = max(self.growth or 0, account.growth)
        self.written += account.written
        self.processes = self.processes or account.processes


class Line:
    """The line between one check and student code: a transport, the part that names are looked up in, and a log."""

    def __init__(self, transport: Transport, module: str, classes: Collection[str] | None = None) -> None:
        """`classes` are the names that may be classes (None: any)."""
        self.transport = transport
        self.module = module
        self.classes = classes
        self.log = Log()
        self.scale: Scale | None = None  # set while calls are weighed
        self.expected: Container[str] | None = ANYWHERE
        self._known: dict[str, Reply] = {}
        self._callbacks: list[Callable[..., Any]] = []
        self._called = self._called_bytes = 0
        self._calling_back = False
        self._ended: BaseException | None = None

    def may_give_objects(self, name: str) -> bool:
        """Whether what gives objects here is to give them: the reference does so at the same place of the check.

        Elsewhere no operation of an object is asked for, so that none is taken where a check expects a tensor's.
        """
        place = _place(name)
        self.log.objects.add(place)
        return self.expected is not None and place in self.expected

    def refuse(self, name: str, type_name: str) -> NoReturn:
        """An object is used where the reference gives none. Raises `Undeclared` where that is not known yet."""
        if self.expected is None:
            self.log.undeclared = True
            raise Undeclared(name)
        raise StudentError(results.ReturnedObject(function=name, type_name=type_name))

    def add_callback(self, function: Callable[..., Any]) -> int:
        """The number of a function of the check's that student code may call."""
        self._callbacks.append(function)
        return len(self._callbacks) - 1

    def _answer(self, called: CalledBack) -> Resume:
        """Carry out a callback. What it raises ends the check, whatever student code does."""
        if not 0 <= called.number < len(self._callbacks):
            raise StudentError(results.AnsweredWrongly())
        self._called += 1
        self._called_bytes += sum(map(len, encode(called)))
        if self._called > MOST_CALLBACKS or self._called_bytes > MOST_CALLED_BACK:
            raise StudentError(results.CalledBackTooMuch(calls=MOST_CALLBACKS, megabytes=MOST_CALLED_BACK >> 20))
        self._calling_back = True
        try:
            resumed = Resume(self._callbacks[called.number](*called.args, **called.kwargs))
            self._called_bytes += sum(map(len, encode(resumed)))
        except Unencodable as error:
            self._ended = CannotCross(f"a callback gave a {error.type_name}{error.where}: let it return data")
            raise self._ended from None
        except BaseException as error:
            self._ended = error
            raise
        finally:
            self._calling_back = False
        return resumed

    def look(self, target: Target, name: str) -> Reply:
        """Ask what a name is; one that is missing raises `StudentError`. What is a function or class is asked once."""
        if target.handle is None and target.name in self._known:
            return self._known[target.name]
        reply = self._send(Look(target), name)
        if target.handle is None and isinstance(reply, Found):
            self._known[target.name] = reply
        if isinstance(reply, Missing):
            self._fail(self._not_defined(name, reply))
        return reply

    def call(self, message: Call | Observe | Vjp | Operate, name: str) -> Reply:
        """Carry out a call or an operation and keep it as the latest one."""
        self.log.last = LastCall(name, message.args, {} if isinstance(message, Operate) else message.kwargs)
        self.log.strange = None
        reply = self._send(message, name, self.scale)
        if isinstance(reply, (Returned, Observed, Gradients)):
            self.log.last.value = reply.value
            self.log.last.returned = True
        elif isinstance(reply, Missing):
            self._fail(self._not_defined(name, reply))
        return reply

    def stream(self, message: OpenStream | Advance, name: str) -> Streamed:
        """Open a stream, which is kept as the latest call, or go on with one."""
        if isinstance(message, OpenStream):
            self.log.last = LastCall(name, (*message.args, list(message.items)), message.kwargs)
        reply = self._send(message, name)
        assert isinstance(reply, Streamed)
        return reply

    def measure(self, message: Measure, name: str, args: tuple[Any, ...]) -> Measured | None:
        """Carry out a call under the allocation model; None if it cannot be measured on fake tensors."""
        self.log.last = LastCall(name, args, message.kwargs)
        reply = self._send(message, name)
        if isinstance(reply, Missing):
            self._fail(self._not_defined(name, reply))
        assert isinstance(reply, (Measured, Unmeasured))
        return reply if isinstance(reply, Measured) else None

    def release(self, handle: int) -> None:
        """Forget an object over there."""
        self._send(Release(handle), "")

    def _send(self, message: Request, name: str, scale: Scale | None = None) -> Reply:
        if self.log.fatal is not None and self.log.fatal.outcome in ("crashed", "timed_out", "not_run"):
            raise self.log.fatal  # nobody is there any more to be asked
        if self._ended is not None:
            raise self._ended
        if self._calling_back:
            raise GraderError("a callback asks student code: it may only compute with what it is given")
        if self._callbacks and (scale is not None or isinstance(message, Measure)):
            raise GraderError("a check that measures or weighs memory can have no callbacks: test them in another one")
        if name and name not in self.log.functions:
            self.log.functions.append(name)
        try:
            if scale is None:
                reply = (
                    self.transport.request(message, self._answer)
                    if self._callbacks
                    else self.transport.request(message)
                )
            else:
                reply, account = self.transport.weigh(message)
                if account is not None:
                    scale.add(account)
                if account is None or not account.guarded:
                    self.log.unweighed = "nobody keeps it here" if account is None else "student code can forge it here"
        except StudentError as error:
            self._fail(error)
        except Unencodable as error:
            raise CannotCross(_cannot_cross(name, error)) from None
        if isinstance(reply, CalledBack):  # with no callback to be called
            self._fail(StudentError(results.AnsweredWrongly()))
        if isinstance(reply, Raised):
            self._raise(reply, name)
        if isinstance(reply, Unreadable):
            what = results.Unreadable(function=name, type_name=reply.type_name, where=reply.where, why=reply.reason)
            raise StudentError(what)
        if isinstance(reply, Misfit):
            raise StudentError(results.WrongForm(function=name, why=reply.reason))
        return reply

    def _raise(self, reply: Raised, name: str) -> NoReturn:
        if reply.stub:
            self._fail(StudentError(results.NotImplementedYet(function=name)))
        raise student_error(
            results.Raised(function=name, kinds=reply.kinds, message=reply.message, frames=reply.frames)
        )

    def _not_defined(self, name: str, reply: Missing) -> StudentError:
        near = reply.near[0] if reply.near else ""
        return StudentError(results.NotDefined(function=name, file=f"{self.module}.py", near=near))

    def _fail(self, error: StudentError) -> NoReturn:
        self.log.fatal = self.log.fatal or error
        raise error


def _place(name: str) -> str:
    """Where in a check something is asked: the file, the line and what is asked."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_code.co_filename in _OWN_FILES:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}:{name}" if frame is not None else name


def _cannot_cross(name: str, error: Unencodable) -> str:
    kind = error.type_name.lower()
    if error.reason:
        remedy = error.reason
    elif "function" in kind or "method" in kind:
        remedy = "pass student.callback(f), a function with @in_worker, or one of torch or the standard library"
    else:
        remedy = "pass data (tensors, numbers, text, lists, tuples, dicts, sets), a generator, or what student gave"
    return f"{name} cannot be given a {error.type_name} ({error.where.strip() or 'the value'}): {remedy}."
