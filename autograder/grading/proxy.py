"""`student`, as check authors use it: a call here is carried out in the worker.

A check author writes `student.softmax(x, 0)`, and this module turns that into a message for the `line`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch

from autograder.grading.line import Line, Scale
from autograder.results import ReturnedObject
from autograder.student_error import StudentError
from autograder.worker.protocol.messages import (
    Advance,
    Call,
    Found,
    Gradients,
    HandleRef,
    Measure,
    Measured,
    Observe,
    Observed,
    OpenStream,
    Returned,
    Target,
    Vjp,
)

_RETURN_THEMSELVES = frozenset({"train", "eval", "to", "float", "double", "half", "bfloat16", "cpu", "requires_grad_"})
"""Methods of modules that return the module itself."""


class RemoteFunction:
    """A function or method of the student's."""

    def __init__(self, line: Line, target: Target, name: str) -> None:
        self._line, self._target, self._name = line, target, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        reply = self._line.call(Call(self._target, _bare(args), _bare(kwargs)), self._name)
        assert isinstance(reply, Returned)
        return self._line_value(reply.value)

    def _line_value(self, value: Any) -> Any:
        """An object of one of the part's own classes becomes a `RemoteObject`, and so does a method's own object."""
        if not isinstance(value, HandleRef):
            return value
        handle, classes = self._target.handle, self._line.classes
        returns_itself = handle == value.id and self._target.name in _RETURN_THEMSELVES
        if returns_itself or (handle is None and (classes is None or self._target.name in classes)):
            return RemoteObject(self._line, value, self._name)
        raise StudentError(ReturnedObject(function=self._name, type_name=value.type_name))

    def pull_back(
        self,
        args: Sequence[Any],
        cotangents: Sequence[Any],
        kwargs: dict[str, Any],
        frozen: Sequence[int] = (),
        then: Sequence[Any] = (),
    ) -> Gradients:
        """Vector-Jacobian products of this function, see `Student.vjp`."""
        given, after = _bare(tuple(args)), _bare(tuple(then))
        message = Vjp(self._target, given, _bare(kwargs), tuple(cotangents), tuple(frozen), after)
        reply = self._line.call(message, self._name)
        assert isinstance(reply, Gradients)
        return reply

    def __repr__(self) -> str:
        return f"<{self._name}, over there>"


class RemoteClass(RemoteFunction):
    """A class of the student's: calling it yields a `RemoteObject`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        reply = self._line.call(Call(self._target, _bare(args), _bare(kwargs), keep=True), self._name)
        assert isinstance(reply, Returned)
        return self._line_value(reply.value)


class RemoteObject(RemoteFunction):
    """An object in the worker: `m(x)`, `m.method(x)`, `m.attribute`."""

    def __init__(self, line: Line, handle: HandleRef, name: str) -> None:
        super().__init__(line, Target("", line.module, handle.id), name)
        self._handle = handle

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        reply = self._line.call(Call(self._target, _bare(args), _bare(kwargs)), self._name)
        assert isinstance(reply, Returned)
        return reply.value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _resolve(self._line, Target(name, self._line.module, self._handle.id), f"{self._name}.{name}")

    def __repr__(self) -> str:
        return f"<an object of {self._name}, over there>"


class Student:
    """The fixture `student`: attributes are what the submission defines."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _resolve(self._line, Target(name, self._line.module), name)

    def observe(self, f: RemoteFunction, *args: Any, **kwargs: Any) -> Observed:
        """Call `f` and return its value with the arguments as they are afterwards and what global state changed."""
        target, name = _target(f)
        reply = self._line.call(Observe(target, _bare(args), _bare(kwargs)), name)
        assert isinstance(reply, Observed)
        return reply

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
        return f.pull_back(args, cotangents, kwargs, frozen, then)

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
            device: where the worker makes its tensors.
            **kwargs: passed to `f`.
        """
        target, name = _target(f)
        found: list[Measured] = []
        for n in lengths:
            args = tuple(make_args(n))
            here = [isinstance(x, torch.Tensor) and x.is_meta for x in args]
            tensors = tuple((i, tuple(x.shape), x.dtype) for i, x in enumerate(args) if here[i])
            plain = tuple(None if made else _bare(x) for x, made in zip(args, here, strict=True))
            cotangents = tuple(make_cotangents(n))
            message = Measure(target, plain, tensors, _bare(kwargs), cotangents, grad, fake, most_operations, device)
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
        message = OpenStream(target, _bare(args), _bare(kwargs), tuple(items), count, int(memory_mb * 2**20))
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


def _target(f: RemoteFunction) -> tuple[Target, str]:
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
