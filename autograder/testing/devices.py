"""Does a function keep the device of its arguments? Tried on torch's device "meta", which needs no GPU.

Tensors on it have a shape and a dtype, and no numbers. A tensor made without `device=` meets them on another device, as
it would on a GPU. What asks for a number (`.item()`, a loop over `.tolist()`) does not run there and proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch

from autograder.student_error import StudentError
from autograder.testing.mismatch import Mismatch

_HINT = "a tensor that you make yourself (arange, zeros, ones, tensor) needs device=x.device"


class Placed(Protocol):
    """A run under the allocation model."""

    devices: Sequence[str]


class Measuring(Protocol):
    """What runs a function of the student's on another device: the fixture `student`."""

    def measure(
        self, f: Any, make_args: Callable[[int], Sequence[Any]], lengths: Sequence[int], *, device: str
    ) -> Sequence[Placed]: ...


def assert_keeps_device(student: Measuring, function: Any, *args: Any) -> None:
    """`function(*args)` works on another device than the CPU, and what it returns is there.

    Args:
        student: the fixture.
        function: a function of the student's, or a module on the device "meta" (`module.to("meta")`).
        args: tensors, of which shape and dtype count, and anything else. (Anchor this by a number in the same check.)

    Raises:
        Mismatch: when tensors of two devices meet, or the result is on the CPU.
    """
    there = [value.to("meta") if isinstance(value, torch.Tensor) else value for value in args]
    try:
        runs = student.measure(function, lambda _: there, [0], device="meta")
    except StudentError as error:
        raise Mismatch("device", "one device, that of the arguments", str(error)[:200], _HINT) from None
    if runs and set(runs[0].devices) - {"meta"}:
        got = f"one on {', '.join(runs[0].devices)}"
        raise Mismatch("device", "a result on the device of the arguments", got, _HINT)
