"""One call (and its backward pass) under the allocation model: inputs are made here, from shapes and dtypes.

Real tensors by default, fake ones where no machine could hold them. It judges nothing, and returns no values.
"""

from __future__ import annotations

import gc
import linecache
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, cast

import torch
from torch import Tensor

from ..protocol.messages import Measure, Measured, Unmeasured, Value
from .allocations import AllocationModel

_SEED = 161_803_399
_MOST_TEXT = 160


def measure(function: Callable[..., Value], request: Measure, folder: str) -> Measured | Unmeasured:
    """Carry out `request` on `function`. `folder` holds the student's files, whose lines are named.

    On real tensors, what `function` raises is raised; on fake ones it is answered by `Unmeasured`: not every right
    program runs on them.
    """
    gc.collect()  # cycles of earlier calls are not this one's
    if not request.fake:
        return _measured(function, request, folder)
    from torch._subclasses.fake_tensor import FakeTensorMode  # half a second, for few who ask

    try:
        with FakeTensorMode(allow_non_fake_inputs=True):
            return _measured(function, request, folder)
    except Exception as error:
        return Unmeasured(f"{type(error).__name__}: {str(error)[:_MOST_TEXT]}")


def _measured(function: Callable[..., Value], request: Measure, folder: str) -> Measured:
    args, tensors = _inputs(request)
    model = AllocationModel(tensors, lambda: line_of(folder), request.most_operations)
    with ExitStack() as stack:
        stack.enter_context(torch.enable_grad() if request.grad else torch.no_grad())
        with model:
            result = function(*args, **request.kwargs)
        kept = model.live
        if request.grad:
            _pull_back(model, result, [tensor for tensor in tensors if tensor.requires_grad])
    return Measured(
        peak=model.peak,
        largest=model.largest,
        largest_where=model.largest_where,
        largest_operator=model.largest_operator[:_MOST_TEXT],
        kept=kept,
        operations=model.operations,
        elements=model.elements,
        products=model.products,
        operators=tuple(sorted(name[:_MOST_TEXT] for name in model.operators)),
        fake=request.fake,
    )


def _inputs(request: Measure) -> tuple[list[Value], list[Tensor]]:
    """The arguments, with a fresh tensor for each of `request.tensors`."""
    args = list(request.args)
    generator = torch.Generator().manual_seed(_SEED)
    tensors: list[Tensor] = []
    for index, shape, dtype in cast("list[tuple[int, tuple[int, ...], torch.dtype]]", list(request.tensors)):
        if not dtype.is_floating_point:
            tensor = torch.zeros(shape, dtype=dtype, device=request.device)
        elif request.fake:
            tensor = torch.empty(shape, dtype=dtype, device=request.device)
        else:
            drawn = torch.randn(shape, generator=generator, dtype=torch.float32)
            tensor = drawn.to(dtype=dtype, device=request.device)
        if request.grad and dtype.is_floating_point:
            tensor.requires_grad_()
        args[index] = tensor
        tensors.append(tensor)
    return args, tensors


def _pull_back(model: AllocationModel, result: Value, inputs: list[Tensor]) -> None:
    """The backward pass, from a gradient that was there before (as the loss's would be)."""
    outputs = [tensor for tensor in _tensors(result) if tensor.requires_grad]
    if not outputs or not inputs:
        return
    gradients = [torch.ones_like(output) for output in outputs]
    for gradient in gradients:
        model.exempt(gradient)
    with model:
        found = torch.autograd.grad(outputs, inputs, gradients, allow_unused=True)
        del found


def _tensors(value: Value) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(cast("dict[Any, Value]", value).values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in cast("list[Value]", value) for tensor in _tensors(item)]
    return []


def line_of(folder: str) -> str:
    """The innermost line of a file in `folder` that is running: "efficient.py, line 12: scores = q @ k.T"; or ""."""
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # inspect.currentframe is the same
    while frame is not None:
        path = frame.f_code.co_filename
        if os.path.dirname(path) == folder:
            text = linecache.getline(path, frame.f_lineno).strip()
            return f"{os.path.basename(path)}, line {frame.f_lineno}: {text}"[:_MOST_TEXT]
        frame = frame.f_back
    return ""
