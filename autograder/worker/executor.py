"""Carries out requests on one submission: values in, a reply out.

Used by the worker's loop and, in process, by the grader (for `--in-process`). It knows no bytes, no limits
and no confinement, and it copies nothing: who calls it sees to it that arguments are private.
"""

from __future__ import annotations

import contextlib
import copy
import difflib
import importlib
import inspect
import itertools
import linecache
import math
import operator
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from types import FunctionType, ModuleType
from typing import Any, cast

import torch

from .global_state import changes, snapshot
from .loader import Loader
from .meters.measuring import measure
from .protocol.messages import (
    Advance,
    Call,
    CallbackRef,
    CalledBack,
    Found,
    HandleRef,
    Known,
    Load,
    Loaded,
    Look,
    Measure,
    Misfit,
    Missing,
    Observe,
    Observed,
    OpenStream,
    Operate,
    Release,
    Reply,
    Request,
    Resume,
    Returned,
    Source,
    Streamed,
    Target,
    Unreadable,
    Vjp,
)
from .protocol.packing import Packer
from .protocol.wire import Unencodable
from .streams import MemoryLimit, Stream, Unlimited
from .tracebacks import raised
from .vjp import CotangentMismatch, mapped, pull_back

_MOST_NAMES = 500  # of a module, told when it is loaded; of what comes after them a check asks


def _take(iterator: Any, most: int) -> list[Any]:
    """At most `most` further items; fewer only at the end."""
    return list(itertools.islice(iterator, most))


def _enter(manager: Any) -> Any:
    return cast(Any, type(manager)).__enter__(manager)


def _leave(manager: Any, kind: str) -> None:
    """The end of a `with`; an exception in it is told by the name of its kind alone."""
    error = RuntimeError(kind) if kind else None
    type(manager).__exit__(manager, type(error) if error else None, error, None)


_BINARY = (
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor"),
)
_OF_OPERATOR = (
    *("neg", "pos", "abs", "invert", "lt", "le", "gt", "ge", "eq", "truth", "index"),
    *("getitem", "setitem", "delitem", "contains"),
)
OPERATIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in (*_BINARY, *_OF_OPERATOR)},
    **{f"i{name.rstrip('_')}": getattr(operator, f"i{name.rstrip('_')}") for name in _BINARY},
    **{one.__name__: one for one in (len, int, float, complex, str, repr, round, divmod, iter, reversed, hash)},
    **{one.__name__: one for one in (setattr, delattr, isinstance, copy.copy, copy.deepcopy)},
    "take": _take,
    "enter": _enter,
    "exit": _leave,
}
"""What can be done to values and objects by name (`Operate`)."""


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
        self._numbers: dict[int, int] = {}  # of kept objects, by id: what is kept is not freed, and so keeps its id
        self._kept = 0
        self._functions: dict[Source, Any] = {}
        self._calling = threading.RLock()
        self.ask: Callable[[CalledBack], Resume] | None = None

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
        if isinstance(request, Operate):
            return self._returned(OPERATIONS[request.name](*self._given(request.args)))
        assert isinstance(request, Release)
        released = self._objects.pop(request.handle, None)
        self._numbers.pop(id(released), None)
        if isinstance(released, Stream):
            self._memory.restore()
        return Returned(None)

    def _look(self, target: Target) -> Reply:
        found = self._resolve(target)
        if kind := _kind(found):
            return Found(kind)
        if callable(found) and not isinstance(found, torch.Tensor) and not _is_data(found):
            return Found("function")
        return self._returned(found)

    def _call(self, request: Call) -> Reply:
        function = self._resolve(request.target)
        value = function(*self._given(request.args), **self._given(request.kwargs))
        if request.keep or inspect.isclass(function):
            return Returned(self._keep(value))
        return self._returned(value)

    def _observe(self, request: Observe) -> Reply:
        function = self._resolve(request.target)
        args, kwargs = self._given(request.args), self._given(request.kwargs)
        before = snapshot()
        value = function(*args, **kwargs)
        changed = changes(before)
        result = self._keep(value) if inspect.isclass(function) else self.with_handles(value)
        return Observed(result, self._as_references(args), self._as_references(kwargs), changed)

    def _vjp(self, request: Vjp) -> Reply:
        function = self._resolve(request.target)
        owner = None if request.target.handle is None else self._objects.get(request.target.handle)
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
        for name in target.name.split("."):
            try:
                owner = getattr(owner, name)
            except AttributeError:
                if inspect.getattr_static(owner, name, None) is not None:
                    raise  # it is there: a property of theirs failed
                raise _Absent(name, _near(owner, name)) from None
        return owner

    def _returned(self, value: object) -> Returned:
        """What is passed on: data as it is, or a handle of what is none."""
        passed = self._as_references(value)
        return Returned(passed, objects=bool(self._objects) and type(passed) in (list, tuple, dict))

    def _keep(self, value: object) -> HandleRef:
        number = self._numbers.get(id(value))
        if number is None:
            self._kept = number = self._kept + 1
            self._objects[number] = value
            self._numbers[id(value)] = number
        return HandleRef(number, type(value).__name__[:100])

    def _given(self, value: Any) -> Any:
        """`value` with each `HandleRef` replaced by the object it names, and what names a function by that function."""
        kind = cast(object, type(value))
        if kind is HandleRef:
            if value.id not in self._objects:
                raise _Absent(f"handle {value.id}", ())
            return self._objects[value.id]
        if kind is Target:
            return self._resolve(value)
        if kind is Known:
            return getattr(importlib.import_module(value.module), value.name)
        if kind is CallbackRef:
            return self._callback(value.number)
        if kind is Source:
            return self._defined(value)
        return mapped(value, self._given)

    def _callback(self, number: int) -> Callable[..., Any]:
        def callback(*args: Any, **kwargs: Any) -> Any:
            if self.ask is None:
                raise RuntimeError("this function can only be called during a call that the check makes")
            with self._calling:
                try:
                    return self._given(self.ask(CalledBack(number, args, kwargs)).value)
                except Unencodable as error:
                    raise TypeError(f"this function takes data, not a {error.type_name}{error.where}") from None

        return callback

    def _defined(self, source: Source) -> Callable[..., Any]:
        """The function that `source` defines. Its lines are there for tracebacks and `inspect`."""
        if source not in self._functions:
            file = f"<{source.name}, of the check>"
            linecache.cache[file] = (len(source.text), None, source.text.splitlines(True), file)
            names: dict[str, Any] = {"torch": torch, "math": math, "in_worker": copy.copy}  # of a function: itself
            exec(compile(source.text, file, "exec", dont_inherit=True), names)
            self._functions[source] = names[source.name]
        return self._functions[source]

    def _as_references(self, value: Any) -> Any:
        """`value` with each object that has a handle replaced by its `HandleRef`."""
        if not self._objects:
            return value
        if id(value) in self._numbers and type(value).__module__ != "builtins":
            return HandleRef(self._numbers[id(value)], type(value).__name__[:100])
        return mapped(value, self._as_references)

    def with_handles(self, value: Any) -> Any:
        """`value` with each object in it that is no data, known or new, replaced by a `HandleRef`."""
        value = self._as_references(value)
        if type(value) in (list, tuple, dict):
            return mapped(value, self.with_handles)
        return value if type(value) is HandleRef or _is_data(value) else self._keep(value)

    def readable(self, reply: Reply) -> Reply | None:
        """The same reply with handles of what cannot be encoded; None where that is nothing that a handle names."""
        if isinstance(reply, Returned):
            value = self.with_handles(reply.value)
            return Returned(value, objects=type(value) in (list, tuple, dict))
        if isinstance(reply, (Streamed, Observed)):
            return replace(reply, value=self.with_handles(reply.value))
        return None


def _is_data(value: object) -> bool:
    """Whether a value is passed on as data, or is of a kind that would be, were it smaller, dense or flatter."""
    if type(value) in (list, tuple, dict) or isinstance(value, torch.Tensor):
        return True
    try:
        Packer().pack(value)
    except Unencodable as error:
        return bool(error.reason or error.where)
    return True


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
