"""`student`: a call here, carried out over there.

A check author writes `student.softmax(x, 0)`; this module turns that into a message, sends it through a `Transport`
(a worker, or an executor in this process), and turns the reply into a value or into a `StudentError`. It starts no
process, knows no limits and judges nothing.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, Protocol

import torch

from autograder.sandbox.account import Account
from autograder.worker.messages import (
    Advance,
    Call,
    Found,
    Gradients,
    HandleRef,
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
    """Carries one request to student code and its reply back. Raises `StudentError` where that dies or hangs."""

    def request(self, message: Request) -> Reply: ...

    def weigh(self, message: Request) -> tuple[Reply, Account | None]:
        """As `request`, with the kernel's account of the call; None where nobody keeps one."""
        ...


class StudentError(Exception):
    """Student code raised, died, hung, is missing, or returned what cannot be read.

    What student code raised is an instance of the builtin exception type as well, so that `pytest.raises(ValueError)`
    works.

    Attributes:
        outcome: "failed", "crashed", "timed_out", "missing" or "not_run", as in `autograder.results`.
        kinds: names in the MRO of what was raised, most special first; empty where nothing was raised.
        frames: the student's own part of the traceback.
        function: the name that was called, or "".
        plain: what may be said of it in a hidden check: nothing that student code chose, which had seen the case.
    """

    outcome = "failed"

    def __init__(
        self, sentence: str, *, kinds: Sequence[str] = (), frames: str = "", function: str = "", plain: str = ""
    ) -> None:
        Exception.__init__(self, sentence)
        self.sentence = sentence
        self.plain = plain or sentence
        self.kinds = tuple(kinds)
        self.frames = frames
        self.function = function

    def __str__(self) -> str:
        return self.sentence


class StudentMissing(StudentError):
    """The function is not there, or is not implemented."""

    outcome = "missing"


class StudentUnreadable(StudentError):
    """The function returned what is no data."""


class StudentCrashed(StudentError):
    """The worker died, or spoke nonsense."""

    outcome = "crashed"


class StudentTimedOut(StudentError):
    """The call took longer than the check allows."""

    outcome = "timed_out"


class StudentNotRun(StudentError):
    """The call was not tried: its part does not import, or the time is up."""

    outcome = "not_run"


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
        self.scale: Scale | None = None  # where calls are weighed, what they are written down on
        self._known: dict[str, Reply] = {}

    def look(self, target: Target, name: str) -> Reply:
        """Ask what a name is; a missing one raises `StudentMissing`. What is a function or class is asked once."""
        if target.handle is None and target.name in self._known:
            return self._known[target.name]
        reply = self._send(Look(target), name)
        if target.handle is None and isinstance(reply, Found):
            self._known[target.name] = reply
        if isinstance(reply, Missing):
            self._fail(_missing(name, self.module, reply.near))
        return reply

    def call(self, message: Call | Observe | Vjp, name: str) -> Reply:
        """Carry out a call and keep it as the latest one."""
        self.log.last = LastCall(name, message.args, message.kwargs)
        reply = self._send(message, name, self.scale)
        if isinstance(reply, (Returned, Observed, Gradients)):
            self.log.last.value = reply.value
            self.log.last.returned = True
        elif isinstance(reply, Missing):
            self._fail(_missing(name, self.module, reply.near))
        return reply

    def stream(self, message: OpenStream | Advance, name: str) -> Streamed:
        """Open a stream, which is kept as the latest call, or go on with one."""
        if isinstance(message, OpenStream):
            self.log.last = LastCall(name, (*message.args, list(message.items)), message.kwargs)
        reply = self._send(message, name)
        assert isinstance(reply, Streamed)
        return reply

    def measure(self, message: Measure, name: str, args: tuple[Any, ...]) -> Measured | None:
        """Carry out a call under the allocation model; None where it cannot be measured on fake tensors."""
        self.log.last = LastCall(name, args, message.kwargs)
        reply = self._send(message, name)
        assert isinstance(reply, (Measured, Unmeasured, Missing))
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
        except StudentError as error:
            error.function = error.function or name
            self._fail(error)
        if isinstance(reply, Raised):
            self._raise(reply, name)
        if isinstance(reply, Unreadable):
            plain = f"{name} returned something that no check can read."
            raise StudentUnreadable(_unreadable_sentence(name, reply), function=name, plain=plain)
        if isinstance(reply, Misfit):
            plain = f"{name} returned something of another form than the handout asks for."
            raise StudentUnreadable(f"{plain[:-1]}: {reply.reason}.", function=name, plain=plain)
        return reply

    def _raise(self, reply: Raised, name: str) -> NoReturn:
        if reply.kinds and reply.kinds[0] == "NotImplementedError":
            self._fail(StudentMissing(f"{name} is not implemented yet.", kinds=reply.kinds, function=name))
        kind = reply.kinds[0] if reply.kinds else "Exception"
        sentence = f"{kind}: {reply.message}" if reply.message else kind
        plain = f"Your code raised {_builtin_kind(reply.kinds)}."
        raise _error_type(reply.kinds)(sentence, kinds=reply.kinds, frames=reply.frames, function=name, plain=plain)

    def _fail(self, error: StudentError) -> NoReturn:
        self.log.fatal = self.log.fatal or error
        raise error


def _builtin_kind(kinds: Sequence[str]) -> str:
    """The nearest builtin exception among `kinds`: the name of another class is the student's choice."""
    found = (kind for kind in kinds if isinstance(getattr(builtins, kind, None), type) and kind != "object")
    return next(found, "an exception")


def _missing(name: str, module: str, near: Sequence[str]) -> StudentMissing:
    plain = f"{name} is not defined in {module}.py."
    hint = f" Did you mean {near[0]}, which is there?" if near else ""
    return StudentMissing(f"{plain}{hint}", function=name, plain=plain)


def _unreadable_sentence(name: str, reply: Unreadable) -> str:
    where = f" at result{reply.where}" if reply.where else ""
    why = f" ({reply.reason})" if reply.reason else ""
    return (
        f"{name} returned a {reply.type_name}{where}{why}; a check can read tensors, numbers, strings, bytes, None, "
        "and lists, tuples and dicts of them."
    )


_RETURN_THEMSELVES = frozenset({"train", "eval", "to", "float", "double", "half", "bfloat16", "cpu", "requires_grad_"})
"""Methods of modules."""

_types: dict[str, type[StudentError]] = {}


def _error_type(kinds: Sequence[str]) -> type[StudentError]:
    """The class that is both `StudentError` and the nearest builtin exception among `kinds`."""
    for kind in kinds:
        builtin = getattr(builtins, kind, None)
        if not (isinstance(builtin, type) and issubclass(builtin, BaseException)):
            continue
        if not issubclass(builtin, Exception) or builtin is Exception:
            break
        if kind not in _types:
            _types[kind] = type(f"Student{kind}", (StudentError, builtin), {"__module__": __name__})
        return _types[kind]
    return StudentError


# ------------------------------------------------------------------ what check authors hold


class RemoteFunction:
    """A function or method of the student's."""

    def __init__(self, line: Line, target: Target, name: str) -> None:
        self._line, self._target, self._name = line, target, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        reply = self._line.call(Call(self._target, _bare(args), _bare(kwargs)), self._name)
        assert isinstance(reply, Returned)
        return self._line_value(reply.value)

    def _line_value(self, value: Any) -> Any:
        """An object of a class that the part is to define, as one that can be called on; of a method, itself alone."""
        if not isinstance(value, HandleRef):
            return value
        handle, classes = self._target.handle, self._line.classes
        returns_itself = handle == value.id and self._target.name in _RETURN_THEMSELVES
        if returns_itself or (handle is None and (classes is None or self._target.name in classes)):
            return RemoteObject(self._line, value, self._name)
        plain = f"{self._name} returned an object where a value is asked for."
        kind = f"a {value.type_name[:100]}" if value.type_name else "an object"
        raise StudentUnreadable(plain.replace("an object", kind), function=self._name, plain=plain)

    def __repr__(self) -> str:
        return f"<student's {self._name}>"


class RemoteClass(RemoteFunction):
    """A class of the student's: calling it yields a `RemoteObject`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        reply = self._line.call(Call(self._target, _bare(args), _bare(kwargs), keep=True), self._name)
        assert isinstance(reply, Returned)
        return self._line_value(reply.value)


class RemoteObject:
    """An object that lives with the student's code: `m(x)`, `m.method(x)`, `m.attribute`."""

    def __init__(self, line: Line, handle: HandleRef, name: str) -> None:
        self._line, self._handle, self._name = line, handle, name
        self._target = Target("", line.module, handle.id)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        reply = self._line.call(Call(self._target, _bare(args), _bare(kwargs)), self._name)
        assert isinstance(reply, Returned)
        return reply.value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _resolve(self._line, Target(name, self._line.module, self._handle.id), f"{self._name}.{name}")

    def __repr__(self) -> str:
        return f"<an object of the student's {self._name}>"


class Student:
    """The fixture `student`: attributes are what the submission defines."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _resolve(self._line, Target(name, self._line.module), name)

    def observe(self, f: RemoteFunction | RemoteObject, *args: Any, **kwargs: Any) -> Observed:
        """Call `f` and return its value with the arguments as they are afterwards and what global state changed."""
        target, name = _target(f)
        reply = self._line.call(Observe(target, _bare(args), _bare(kwargs)), name)
        assert isinstance(reply, Observed)
        return reply

    def vjp(
        self, f: RemoteFunction | RemoteObject, args: Sequence[Any], cotangents: Sequence[Any], **kwargs: Any
    ) -> Gradients:
        """Vector-Jacobian products: call `f(*args, **kwargs)` and pull `cotangents` back.

        `cotangents` matches the floating-point tensors that `f` returns, in order; None leaves one out. Returns
        values, the gradients of all floating-point arguments (None where none flows) and those of a module's
        parameters by name.
        """
        target, name = _target(f)
        reply = self._line.call(Vjp(target, _bare(tuple(args)), _bare(kwargs), tuple(cotangents)), name)
        assert isinstance(reply, Gradients)
        return reply

    def measure(
        self,
        f: RemoteFunction | RemoteObject,
        make_args: Callable[[int], Sequence[Any]],
        lengths: Sequence[int],
        *,
        grad: bool = False,
        fake: bool = False,
        most_operations: int = 0,
        device: str = "cpu",
        **kwargs: Any,
    ) -> list[Measured]:
        """What `f` allocates at each length, by the allocation model. It explains; `weighing` decides.

        Args:
            f: a function, method or object.
            make_args: gives the positional arguments at length n. Of tensors only shape and dtype count: the worker
                makes its own (so let them be on the device "meta").
            lengths: each n.
            grad: inputs require gradients, and the backward pass is run, too. Otherwise under `no_grad`.
            fake: on tensors without content, for lengths that no machine could hold. Lengths at which that does not
                work are left out.
            most_operations: leave out lengths that take more operations than this; 0: no budget. For fake tensors.
            device: where the worker makes its tensors.
            **kwargs: passed to `f`.
        """
        target, name = _target(f)
        found: list[Measured] = []
        for n in lengths:
            args = tuple(make_args(n))
            tensors = tuple((i, tuple(x.shape), x.dtype) for i, x in enumerate(args) if isinstance(x, torch.Tensor))
            plain = tuple(None if isinstance(x, torch.Tensor) else _bare(x) for x in args)
            message = Measure(target, plain, tensors, _bare(kwargs), grad, fake, most_operations, device)
            measured = self._line.measure(message, name, args)
            if measured is not None:
                found.append(replace(measured, n=n))
        return found

    @contextmanager
    def weighing(self) -> Generator[Scale]:
        """Inside, the kernel keeps account of each call (and `vjp`): what the process took, read from outside."""
        self._line.scale = scale = Scale()
        try:
            yield scale
        finally:
            self._line.scale = None

    def stream(
        self,
        f: RemoteFunction | RemoteObject,
        *args: Any,
        items: Sequence[Any],
        count: int = 0,
        memory_mb: float = 0,
        **kwargs: Any,
    ) -> RemoteStream:
        """Call `f(*args, iterator, **kwargs)` and consume what it returns, bit by bit.

        Args:
            f: a function or method that takes an iterator and returns one.
            *args: what comes before the iterator.
            items: what the iterator yields. It is made in the worker, and counts what is taken from it.
            count: yield that many items instead; item i is then `items[i % len(items)]`, a string, with the number i
                after it, made when it is asked for.
            memory_mb: while the stream is open, what the worker may take in addition to what it has. 0: no such limit.
            **kwargs: passed to `f`.
        """
        target, name = _target(f)
        message = OpenStream(target, _bare(args), _bare(kwargs), tuple(items), count, int(memory_mb * 2**20))
        return RemoteStream(self._line, message, name)


class RemoteStream:
    """What a function of the student's made of an iterator, consumed a few outputs at a time. Use in a `with`.

    Attributes:
        pulled: how many items have been taken from the iterator so far.
        done: whether the outputs have ended.
    """

    def __init__(self, line: Line, message: OpenStream, name: str) -> None:
        self._line, self._target, self._name = line, message.target, name
        opened = line.stream(message, name)
        self._stream, self.pulled, self.done = opened.stream, opened.pulled, False

    def take(self, most: int) -> list[Any]:
        """At most `most` further outputs; fewer only at the end."""
        reply = self._line.stream(Advance(self._target, self._stream, most), self._name)
        self.pulled, self.done = reply.pulled, reply.done
        return reply.value

    def __enter__(self) -> RemoteStream:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._line.release(self._stream)


def _resolve(line: Line, target: Target, name: str) -> Any:
    reply = line.look(target, name)
    if isinstance(reply, Returned):
        return reply.value
    assert isinstance(reply, Found)
    return RemoteClass(line, target, name) if reply.kind == "class" else RemoteFunction(line, target, name)


def _target(f: RemoteFunction | RemoteObject) -> tuple[Target, str]:
    return f._target, f._name  # pyright: ignore[reportPrivateUsage]


def _bare(value: Any) -> Any:
    """Replace proxies inside arguments by references to what they stand for."""
    if isinstance(value, RemoteObject):
        return value._handle  # pyright: ignore[reportPrivateUsage]
    if type(value) is tuple:
        return tuple(_bare(item) for item in value)  # pyright: ignore[reportUnknownVariableType]
    if type(value) is list:
        return [_bare(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if type(value) is dict:
        return {key: _bare(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return value
