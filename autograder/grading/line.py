"""The line between one check and student code: requests go through a transport, replies become values or errors.

It keeps a log of what the check did. So the last call can be shown, and an `except` in a check cannot swallow the error
that student code is missing or dead.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

from autograder import results
from autograder.sandbox.account import Account
from autograder.student_error import StudentError, student_error
from autograder.worker.protocol.messages import (
    Advance,
    Call,
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
    Raised,
    Release,
    Reply,
    Request,
    Returned,
    Streamed,
    Target,
    Unmeasured,
    Unreadable,
    Vjp,
)


class Transport(Protocol):
    """Carries one request to student code and its reply back. Raises `StudentError` if that dies or hangs."""

    def request(self, message: Request) -> Reply: ...

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
        """`classes` are the names that may be classes (None: any): of another only data comes back, so that no method
        of a student's is called where a check expects a tensor's."""
        self.transport = transport
        self.module = module
        self.classes = classes
        self.log = Log()
        self.scale: Scale | None = None  # set while calls are weighed
        self._known: dict[str, Reply] = {}

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

    def call(self, message: Call | Observe | Vjp, name: str) -> Reply:
        """Carry out a call and keep it as the latest one."""
        self.log.last = LastCall(name, message.args, message.kwargs)
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
        if name and name not in self.log.functions:
            self.log.functions.append(name)
        try:
            if scale is None:
                reply = self.transport.request(message)
            else:
                reply, account = self.transport.weigh(message)
                if account is not None:
                    scale.add(account)
                if account is None or not account.guarded:
                    self.log.unweighed = "nobody keeps it here" if account is None else "student code can forge it here"
        except StudentError as error:
            self._fail(error)
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
