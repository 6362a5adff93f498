"""A function keeps the device of its arguments: tried on "meta", without a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograder.results import Raised
from autograder.student_error import StudentError
from autograder.testing.devices import assert_keeps_device
from autograder.testing.mismatch import Mismatch
from autograder.worker.meters.measuring import measure
from autograder.worker.protocol.messages import Measure, Measured, Target


class Student:
    """Measures in this process what is called."""

    def measure(self, f: Any, make_args: Callable[[int], Any], lengths: Any, *, device: str) -> list[Measured]:
        args = make_args(0)
        tensors = tuple((i, tuple(x.shape), x.dtype) for i, x in enumerate(args) if isinstance(x, Tensor))
        plain = tuple(None if isinstance(x, Tensor) else x for x in args)
        try:
            found = measure(f, Measure(Target("f"), plain, tensors, device=device), "")
        except RuntimeError as error:
            raise StudentError(Raised(kinds=("RuntimeError",), message=str(error))) from None
        return [found] if isinstance(found, Measured) else []


def keeps(x: Tensor) -> Tensor:
    return x + torch.arange(x.shape[-1], device=x.device)


def asks_for_a_number(x: Tensor) -> Tensor:
    return x * float(x.max())


def row_by_row(x: Tensor) -> Tensor:
    return torch.tensor([value + 1 for value in x.tolist()], device=x.device)


def adds_what_is_on_the_cpu(x: Tensor) -> Tensor:
    return x + torch.arange(x.shape[-1])


def returns_what_is_on_the_cpu(x: Tensor) -> Tensor:
    return torch.ones(x.shape[-1], dtype=torch.bool)


@pytest.mark.parametrize("function", [keeps, asks_for_a_number, row_by_row], ids=lambda f: f.__name__)
def test_what_keeps_the_device_or_cannot_be_tried_passes(function: Callable[[Tensor], Tensor]) -> None:
    assert_keeps_device(Student(), function, torch.ones(3))


@pytest.mark.parametrize("function", [adds_what_is_on_the_cpu, returns_what_is_on_the_cpu], ids=lambda f: f.__name__)
def test_what_meets_or_returns_another_device_fails(function: Callable[[Tensor], Tensor]) -> None:
    with pytest.raises(Mismatch, match="device"):
        assert_keeps_device(Student(), function, torch.ones(3))
