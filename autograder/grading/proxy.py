"""`student`, as check authors use it: a call here is carried out in the worker.

A check author writes `student.softmax(x, 0)`, and this module turns that into a message for the `line`.
"""

# pyright: reportPrivateUsage=false
from __future__ import annotations

import importlib
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import torch

from autograder.errors import GraderError
from autograder.grading.line import CannotCross, Line, Scale
from autograder.testing.callables import InWorker
from autograder.worker.protocol.messages import (
    Advance,
    Call,
    CallbackRef,
    Found,
    Gradients,
    HandleRef,
    Known,
    Measure,
    Measured,
    Observe,
    Observed,
    OpenStream,
    Operate,
    Returned,
    Source,
    Target,
    Vjp,
)

_RETURN_THEMSELVES = frozenset({"train", "eval", "to", "float", "double", "half", "bfloat16", "cpu", "requires_grad_"})
"""Methods of modules that return the module itself."""
_PLAIN = (torch.Tensor, int, float, str, bytes, type(None))
_LIBRARIES = (
    *("builtins", "math", "operator", "itertools", "functools", "random", "statistics", "collections"),
    *("numpy", "torch", "torch.nn", "torch.nn.functional", "torch.optim", "torch.linalg", "torch.fft", "torch.special"),
)
"""The modules whose functions and classes can be passed to student code by name."""


class _Remote:
    """What both kinds of proxies can do: operators, and what else Python asks of an object."""

    __slots__ = ("_remote_free", "_remote_line", "_remote_name", "_remote_reference", "_remote_type")
    __array_ufunc__ = None  # an array on the left leaves an operator to this side

    def __init__(self, line: Line, reference: Target | HandleRef, name: str, free: bool, type_name: str = "") -> None:
        """`free`: it may be used wherever it is; else where the reference gives an object too."""
        for slot, value in zip(_Remote.__slots__, (free, line, name, reference, type_name), strict=True):
            object.__setattr__(self, slot, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _call(self, Call(_target_of(self), _bare(self._remote_line, args), _bare(self._remote_line, kwargs)))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        use(self)
        target = _target_of(self)
        path = f"{target.name}.{name}" if target.name else name
        inner = Target(path, target.module, target.handle)
        return _resolve(self._remote_line, inner, f"{self._remote_name}.{name}", self._remote_free)

    def _remote_pull_back(
        self,
        args: Sequence[Any],
        cotangents: Sequence[Any],
        kwargs: dict[str, Any],
        frozen: Sequence[int] = (),
        then: Sequence[Any] = (),
    ) -> Gradients:
        """See `Student.vjp`. A student may have called something of theirs `pull_back`."""
        line, (target, name) = self._remote_line, _target(self)
        given, after = _bare(line, tuple(args)), _bare(line, tuple(then))
        message = Vjp(target, given, _bare(line, kwargs), tuple(cotangents), tuple(frozen), after)
        reply = line.call(message, name)
        assert isinstance(reply, Gradients)
        return reply

    def __setattr__(self, name: str, value: Any) -> None:
        _operate("setattr", self, name, value)

    def __delattr__(self, name: str) -> None:
        _operate("delattr", self, name)

    def __eq__(self, other: object) -> bool:
        """Identity, over there. `student.equal` asks their `__eq__`."""
        return (
            isinstance(other, _Remote)
            and self._remote_line is other._remote_line
            and bool(self._remote_reference == other._remote_reference)
        )

    def __hash__(self) -> int:
        return hash(self._remote_reference)

    def __repr__(self) -> str:
        return f"<{self._remote_name}, over there>"

    def __str__(self) -> str:
        return _operate("str", self)

    def __format__(self, form: str) -> str:
        return repr(self)

    def __contains__(self, item: Any) -> bool:
        return _operate("contains", self, item)

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, _Remote) and _operate("isinstance", instance, self) is True

    def __iter__(self) -> Any:
        return _operate("iter", self)

    def __next__(self) -> Any:
        taken = _operate("take", self, 1)
        for item in taken if isinstance(taken, list) else ():  # pyright: ignore[reportUnknownVariableType]
            return item  # pyright: ignore[reportUnknownVariableType]
        raise StopIteration

    def __enter__(self) -> Any:
        return _operate("enter", self)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """What their `__exit__` returns silences nothing in a check."""
        _operate("exit", self, "" if kind is None else kind.__name__)

    def __deepcopy__(self, _memo: Any) -> Any:
        return _operate("deepcopy", self)

    def __copy__(self) -> Any:
        return _operate("copy", self)


def _operator(name: str, reflected: bool = False) -> Callable[..., Any]:
    def operation(self: _Remote, *others: Any) -> Any:
        return _operate(name, *others, self) if reflected else _operate(name, self, *others)

    return operation


_BINARY = ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or", "xor")
_OTHERS = (
    *("neg", "pos", "abs", "invert", "lt", "le", "gt", "ge", "getitem", "setitem", "delitem"),
    *("len", "int", "float", "complex", "index", "round", "divmod", "reversed"),
)
for _name in _BINARY:
    _word = f"{_name}_" if _name in ("and", "or") else _name
    setattr(_Remote, f"__{_name}__", _operator(_word))
    setattr(_Remote, f"__r{_name}__", _operator(_word, reflected=True))
    setattr(_Remote, f"__i{_name}__", _operator(f"i{_name}"))
for _name in _OTHERS:
    setattr(_Remote, f"__{_name}__", _operator(_name))
_Remote.__bool__ = _operator("truth")  # pyright: ignore[reportAttributeAccessIssue]


class RemoteFunction(_Remote):
    """A function, class or method of the student's. Of a class `C`: `C(...)` is an object, `C.name` an attribute."""

    __slots__ = ()


class RemoteObject(_Remote):
    """An object in the worker: `m(x)`, `m.method(x)`, `m.attribute`, `m + 1`, `m[0]`, `len(m)`, `for x in m`."""

    __slots__ = ()


def use(remote: _Remote) -> None:
    """Before something is asked of an object. Raises `StudentError` where a check expects none."""
    if not remote._remote_free and not (
        isinstance(remote, RemoteFunction) and remote._remote_line.may_give_objects(remote._remote_name)
    ):
        remote._remote_line.refuse(remote._remote_name, remote._remote_type)


def _target_of(remote: _Remote) -> Target:
    reference = remote._remote_reference
    return reference if isinstance(reference, Target) else Target("", remote._remote_line.module, reference.id)


def _call(remote: _Remote, message: Call) -> Any:
    if isinstance(remote, RemoteObject):
        use(remote)
    line, target = remote._remote_line, message.target
    reply = line.call(message, remote._remote_name)
    assert isinstance(reply, Returned)
    if isinstance(reply.value, HandleRef):
        # What an object's own methods return may be the object itself; what a class makes is an object.
        itself = target.handle == reply.value.id and target.name in _RETURN_THEMSELVES and remote._remote_free
        of_class = target.handle is None and (line.classes is None or target.name in line.classes)
        return _object(line, reply.value, remote._remote_name, itself or of_class)
    return _with_objects(line, reply.value, remote._remote_name) if reply.objects else reply.value


def _operate(name: str, *values: Any) -> Any:
    remotes = [value for value in values if isinstance(value, _Remote)]
    for remote in remotes[:1] if name in ("setattr", "setitem", "contains") else remotes:
        use(remote)
    line, called = remotes[0]._remote_line, f"{remotes[0]._remote_name}.__{name.rstrip('_')}__"
    reply = line.call(Operate(name, _bare(line, values)), called)
    assert isinstance(reply, Returned)
    if isinstance(reply.value, HandleRef):
        return _object(line, reply.value, called)
    return _with_objects(line, reply.value, called) if reply.objects else reply.value


def _object(line: Line, handle: HandleRef, name: str, free: bool = False) -> RemoteObject:
    free = free or line.may_give_objects(name)
    if not free:
        line.log.strange = (name, handle.type_name)
    return RemoteObject(line, handle, name, free, handle.type_name)


def _with_objects(line: Line, value: Any, name: str) -> Any:
    """Data in which some objects are: those become proxies."""
    if isinstance(value, HandleRef):
        return _object(line, value, name)
    if type(value) is tuple:
        return tuple(_with_objects(line, item, name) for item in value)  # pyright: ignore[reportUnknownVariableType]
    if type(value) is list:
        return [_with_objects(line, item, name) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if type(value) is dict:
        return {key: _with_objects(line, item, name) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return value


class Student:
    """The fixture `student`: attributes are what the submission defines."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        classes = self._line.classes
        return _resolve(self._line, Target(name, self._line.module), name, classes is None or name in classes)

    def equal(self, a: Any, b: Any) -> bool:
        """Whether `a == b` by the student's own `__eq__`."""
        return _operate("eq", a, b) is True

    def repr(self, value: Any) -> str:
        """What the student's `__repr__` gives; `str(value)` asks their `__str__`."""
        return _operate("repr", value)

    def hash(self, value: Any) -> int:
        """What the student's `__hash__` gives."""
        return _operate("hash", value)

    def callback(self, function: Callable[..., Any]) -> Callback:
        """`function`, for student code to call while a call of the check's runs. Pass what this returns.

        It is given data and gives data, without gradients. It may not ask `student`; what it raises ends the check.
        Its time is not the student's. At most 10,000 calls and 64 MB in all.
        """
        return Callback(function, CallbackRef(self._line.add_callback(function)))

    def observe(self, f: RemoteFunction, *args: Any, **kwargs: Any) -> Observed:
        """Call `f` and return its value with the arguments as they are afterwards and what global state changed."""
        target, name = _target(f)
        reply = self._line.call(Observe(target, _bare(self._line, args), _bare(self._line, kwargs)), name)
        assert isinstance(reply, Observed)
        return replace(reply, value=_with_objects(self._line, reply.value, name))

    def vjp(
        self,
        f: RemoteFunction,
        args: Sequence[Any],
        cotangents: Sequence[Any],
        *,
        frozen: Sequence[int] = (),
        then: Sequence[Any] = (),
        **kwargs: Any,
    ) -> Gradients:
        """Vector-Jacobian products: call `f(*args, **kwargs)` and pull `cotangents` back.

        `cotangents` matches the floating-point tensors that `f` returns, in order; None leaves one out. Returns
        values, the gradients of all floating-point arguments (None where none flows) and those of a module's
        parameters by name. The arguments at the positions `frozen` need no gradients. With `then`, `f(*then)` is called
        between the call and its backward pass.
        """
        return f._remote_pull_back(args, cotangents, kwargs, frozen, then)

    def measure(
        self,
        f: RemoteFunction,
        make_args: Callable[[int], Sequence[Any]],
        lengths: Sequence[int],
        *,
        make_cotangents: Callable[[int], Sequence[Any]] = lambda n: (),
        grad: bool = False,
        fake: bool = False,
        most_operations: int = 0,
        device: str = "cpu",
        **kwargs: Any,
    ) -> list[Measured]:
        """What `f` allocates at each length, by the allocation model. It explains; `weighing` decides.

        Compare the value (and the gradients, `args`) of what it returns: a figure counts for a call that is right.

        Args:
            f: a function, method or object.
            make_args: gives the positional arguments at length n. In place of tensors on the device "meta" the worker
                makes its own, of their shape and dtype; then no value comes back.
            lengths: each n.
            make_cotangents: gives what is pulled back at length n, as in `vjp`; nothing: there is no backward pass.
            grad: ones are pulled back.
            fake: on tensors without content, for lengths that no machine could hold. Lengths at which that does not
                work are left out.
            most_operations: leave out lengths that take more operations than this; 0: no budget. For fake tensors.
            device: where the worker makes its tensors: "cpu", or "meta", which has no numbers. Workers see no GPU, so
                that a grade is the same everywhere; `softmark memory --device cuda` measures on one.
            **kwargs: passed to `f`.
        """
        if device not in ("cpu", "meta"):
            raise GraderError(
                f"student.measure(device={device!r}): workers see no GPU, so that a grade is the same everywhere; "
                "measure on a GPU with softmark memory --device cuda"
            )
        target, name = _target(f)
        found: list[Measured] = []
        for n in lengths:
            args = tuple(make_args(n))
            here = [isinstance(x, torch.Tensor) and x.is_meta for x in args]
            tensors = tuple((i, tuple(x.shape), x.dtype) for i, x in enumerate(args) if here[i])
            plain = tuple(None if made else _bare(self._line, x) for x, made in zip(args, here, strict=True))
            cotangents = tuple(make_cotangents(n))
            message = Measure(
                target, plain, tensors, _bare(self._line, kwargs), cotangents, grad, fake, most_operations, device
            )
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
        f: RemoteFunction,
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
            items: what the iterator yields. The iterator is made in the worker and counts what is taken from it.
            count: yield that many items instead; item i is then `items[i % len(items)]`, a string, with the number i
                after it, made when it is asked for.
            memory_mb: while the stream is open, what the worker may take in addition to what it has. 0: no such limit.
            **kwargs: passed to `f`.
        """
        target, name = _target(f)
        given, named = _bare(self._line, args), _bare(self._line, kwargs)
        message = OpenStream(target, given, named, tuple(items), count, int(memory_mb * 2**20))
        return RemoteStream(self._line, message, name)


class RemoteStream:
    """The iterator that a student's function returned, consumed a few outputs at a time. Use it in a `with`.

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
        return _with_objects(self._line, reply.value, self._name)

    def __enter__(self) -> RemoteStream:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._line.release(self._stream)


@dataclass(frozen=True)
class Callback:
    """A function of the check's, as it is passed to student code; here it is the function itself."""

    function: Callable[..., Any]
    reference: CallbackRef

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


def _resolve(line: Line, target: Target, name: str, free: bool) -> Any:
    reply = line.look(target, name)
    if isinstance(reply, Found):
        return RemoteFunction(line, target, name, free and target.handle is None)
    assert isinstance(reply, Returned)
    return _with_objects(line, reply.value, name) if reply.objects or type(reply.value) is HandleRef else reply.value


def _target(f: _Remote) -> tuple[Target, str]:
    if isinstance(f, RemoteObject):
        use(f)
    return _target_of(f), f._remote_name  # pyright: ignore[reportPrivateUsage]


def _bare(line: Line, value: Any) -> Any:
    """Replace proxies inside arguments by references to what they stand for, and functions by what names them."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, _Remote):
        if value._remote_line is not line:
            raise CannotCross(f"{value!r} is no object of this side: `student` and `reference` each have their own.")
        return value._remote_reference
    if type(value) is tuple:
        return tuple(_bare(line, item) for item in value)  # pyright: ignore[reportUnknownVariableType]
    if type(value) is list:
        return [_bare(line, item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if type(value) is dict:
        return {key: _bare(line, item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, Callback):
        return value.reference
    if isinstance(value, InWorker):
        return Source(value.name, value.source)
    return _known().get(id(value), value) if callable(value) else value


@cache
def _known() -> dict[int, Known]:
    """The functions and classes of `_LIBRARIES`, by id."""
    found: dict[int, Known] = {}
    for module in _LIBRARIES:
        for name, value in vars(importlib.import_module(module)).items():
            if callable(value) and not name.startswith("_"):
                found.setdefault(id(value), Known(module, name))
    return found
