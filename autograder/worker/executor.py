"""Carries out requests on one submission: values in, a reply out.

Used by the worker's loop and, in process, by the grader (for `--in-process`). It knows no bytes, no limits
and no confinement, and it copies nothing: who calls it sees to it that arguments are private.
"""

from __future__ import annotations

import contextlib
import difflib
import inspect
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from types import FunctionType, ModuleType
from typing import Any

from .global_state import changes, snapshot
from .loader import Loader
from .meters.measuring import measure
from .protocol.messages import (
    Advance,
    Call,
    Found,
    HandleRef,
    Load,
    Loaded,
    Look,
    Measure,
    Misfit,
    Missing,
    Observe,
    Observed,
    OpenStream,
    Release,
    Reply,
    Request,
    Returned,
    Streamed,
    Target,
    Unreadable,
    Vjp,
)
from .protocol.wire import Unencodable, encode
from .streams import MemoryLimit, Stream, Unlimited
from .tracebacks import raised
from .vjp import CotangentMismatch, mapped, pull_back

_MOST_NAMES = 500  # of a module, told when it is loaded; of what comes after them a check asks


class _Absent(Exception):
    def __init__(self, name: str, near: tuple[str, ...]) -> None:
        super().__init__(name)
        self.missing = Missing(name, near)


class Executor:
    """The names of one submission and the objects (handles) that calls have left here.

    Args:
        loader: the submission's parts.
        memory: lowered while a stream with a limit is open; by default nothing limits a stream.
        refuse: takes away what a part forbids, given None before the part is loaded and the submission's modules
            after it; by default nothing is taken away.
    """

    def __init__(
        self,
        loader: Loader,
        memory: MemoryLimit | None = None,
        refuse: Callable[[Sequence[str], Sequence[ModuleType] | None], None] = lambda _forbidden, _modules: None,
    ) -> None:
        self._loader = loader
        self._memory = memory or Unlimited()
        self._refuse = refuse
        self._objects: dict[int, object] = {}
        self._kept = 0

    def carry_out(self, request: Request) -> Reply:
        """The reply to `request`. Whatever student code raises is a reply too (`Raised`)."""
        try:
            with self._loader.installed():
                return self._carried_out(request)
        except _Absent as absent:
            return absent.missing
        except CotangentMismatch as error:
            return Misfit(str(error))
        except (
            BaseException
        ) as error:  # SystemExit, KeyboardInterrupt, MemoryError, RecursionError: all of them are theirs
            return raised(error, self._loader.folder)

    def _carried_out(self, request: Request) -> Reply:
        if isinstance(request, Load):
            self._refuse(request.forbidden, None)
            module = self._loader.load(request.module)
            # To look at every module costs 10 ms: only where a rule speaks of the submission's source.
            by_source = any(rule.startswith("import ") for rule in request.forbidden)
            self._refuse(request.forbidden, self._loader.modules() if by_source else ())
            return Loaded(_kinds(module))
        if isinstance(request, Look):
            return self._look(request.target)
        if isinstance(request, Call):
            return self._call(request)
        if isinstance(request, Observe):
            return self._observe(request)
        if isinstance(request, Vjp):
            return self._vjp(request)
        if isinstance(request, OpenStream):
            return self._open_stream(request)
        if isinstance(request, Advance):
            return self._advance(request)
        if isinstance(request, Measure):
            return self._measure(request)
        assert isinstance(request, Release)
        if isinstance(self._objects.pop(request.handle, None), Stream):
            self._memory.restore()
        return Returned(None)

    def _look(self, target: Target) -> Reply:
        found = self._resolve(target)
        if kind := _kind(found):
            return Found(kind)
        reply = Returned(self._as_references(found))
        try:
            encode(reply)
        except Unencodable:
            return Found("function" if callable(found) else "object")
        return reply

    def _call(self, request: Call) -> Reply:
        function = self._resolve(request.target)
        value = function(*self._given(request.args), **self._given(request.kwargs))
        return Returned(self._result(function, value, request.keep))

    def _observe(self, request: Observe) -> Reply:
        function = self._resolve(request.target)
        args, kwargs = self._given(request.args), self._given(request.kwargs)
        before = snapshot()
        value = function(*args, **kwargs)
        changed = changes(before)
        result = self._result(function, value, keep=False)
        return Observed(result, self._as_references(args), self._as_references(kwargs), changed)

    def _vjp(self, request: Vjp) -> Reply:
        function = self._resolve(request.target)
        owner = None if request.target.handle is None else self._objects[request.target.handle]
        given = {name: self._given(getattr(request, name)) for name in ("args", "kwargs", "then")}
        return pull_back(function, owner, replace(request, **given))

    def _open_stream(self, request: OpenStream) -> Reply:
        function = self._resolve(request.target)
        args, kwargs = self._given(request.args), self._given(request.kwargs)
        stream = Stream(request.items, request.count)
        if request.memory_bytes:
            self._memory.lower(request.memory_bytes)
        with self._memory_restored_after_an_error():
            stream.consume(function(*args, stream.items(), **kwargs))
        return Streamed(self._keep(stream).id, [], stream.pulled)

    def _advance(self, request: Advance) -> Reply:
        stream = self._objects.get(request.stream)
        if not isinstance(stream, Stream):
            raise _Absent(f"stream {request.stream}", ())
        with self._memory_restored_after_an_error():
            values, done = stream.take(request.most)
        return Streamed(request.stream, self._as_references(values), stream.pulled, done)

    def _measure(self, request: Measure) -> Reply:
        function = self._resolve(request.target)
        args, kwargs = self._given(request.args), self._given(request.kwargs)
        return measure(function, replace(request, args=args, kwargs=kwargs), str(self._loader.folder))

    @contextlib.contextmanager
    def _memory_restored_after_an_error(self) -> Generator[None]:
        try:
            yield
        except BaseException:
            self._memory.restore()
            raise

    def _resolve(self, target: Target) -> Any:
        if target.handle is None:
            owner: object = self._loader.load(target.module)
        elif target.handle in self._objects:
            owner = self._objects[target.handle]
        else:
            raise _Absent(f"handle {target.handle}", ())
        if not target.name:
            return owner
        try:
            return getattr(owner, target.name)
        except AttributeError:
            if inspect.getattr_static(owner, target.name, None) is not None:
                raise  # it is there: a property of theirs failed
            raise _Absent(target.name, _near(owner, target.name)) from None

    def _result(self, function: object, value: object, keep: bool) -> object:
        """What is passed on: a handle of an instance of their class, or of what is to be kept, else the value."""
        return self._keep(value) if keep or inspect.isclass(function) else self._as_references(value)

    def _keep(self, value: object) -> HandleRef:
        self._kept += 1
        self._objects[self._kept] = value
        return HandleRef(self._kept, type(value).__name__[:100])

    def _given(self, value: Any) -> Any:
        """`value` with each `HandleRef` replaced by the object it names."""
        if type(value) is HandleRef:
            if value.id not in self._objects:
                raise _Absent(f"handle {value.id}", ())
            return self._objects[value.id]
        return mapped(value, self._given)

    def _as_references(self, value: Any) -> Any:
        """`value` with each object that has a handle replaced by its `HandleRef`."""
        if not self._objects:
            return value
        for number, kept in self._objects.items():
            if value is kept and type(value).__module__ != "builtins":
                return HandleRef(number, type(value).__name__[:100])
        return mapped(value, self._as_references)


def _kind(value: object) -> str:
    """ "class", "function", or "" for anything else."""
    return "class" if inspect.isclass(value) else "function" if inspect.isroutine(value) else ""


def _kinds(module: ModuleType) -> dict[str, str]:
    """ "class" or "function" for what is one of both by its very type, so that no code of a student's runs here."""
    if type(module) is not ModuleType:
        return {}  # it has put something else in its place, of which only a look can tell
    kinds: dict[str, str] = {}
    for name, value in list(vars(module).items())[:_MOST_NAMES]:
        if type(name) is str and name.isidentifier() and not name.startswith("_"):
            if type(value) is FunctionType:
                kinds[name] = "function"
            elif issubclass(type(value), type):
                kinds[name] = "class"
    return kinds


def _near(owner: object, name: str) -> tuple[str, ...]:
    names = vars(owner) if isinstance(owner, ModuleType) else dir(owner)
    public = [other for other in names if not other.startswith("_")]
    return tuple(difflib.get_close_matches(name, public, n=3))


def unreadable(error: Unencodable) -> Unreadable:
    """The reply in place of one that could not be encoded."""
    return Unreadable(error.type_name, error.where, error.reason)
