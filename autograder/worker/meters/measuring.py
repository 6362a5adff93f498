"""One call (and its backward pass) under the allocation model, on tensors that were sent, or made here from shapes.

The call is as any other: no grad mode, no form of the arguments tells student code that it is measured. It judges
nothing. What was sent is answered with the value, so that the call that is measured can be the one that is compared.
"""

from __future__ import annotations

import gc
import importlib
import linecache
import os
import re
import sys
from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor

from ..protocol.messages import Measure, Measured, Unmeasured, Value
from ..vjp import backward, floating, gradients_of, tensors_in, with_leaves

_SEED = 161_803_399
_MOST_TEXT = 160
_TWO_DEVICES = re.compile(r"not on the expected device|on the same device|at least two devices")


def measure(function: Callable[..., Value], request: Measure, folder: str) -> Measured | Unmeasured:
    """Carry out `request` on `function`. `folder` holds the student's files, whose lines are named.

    On real tensors, what `function` raises is raised; on fake ones and on the device "meta" it is answered by
    `Unmeasured`, since not every right program runs there. That tensors are on two devices is raised in any case.
    """
    try:
        importlib.import_module(".allocations", __package__)
    except (ImportError, AttributeError) as error:  # private names of torch's: see docs/private-names.md
        return Unmeasured(f"the allocation model does not fit this torch ({error})")
    gc.collect()  # cycles of earlier calls are not this one's
    if not request.fake and request.device != "meta":
        return _measured(function, request, folder)
    try:
        if not request.fake:
            return _measured(function, request, folder)
        from torch._subclasses.fake_tensor import FakeTensorMode  # half a second, for few who ask

        with FakeTensorMode(allow_non_fake_inputs=True):
            return _measured(function, request, folder)
    except Exception as error:
        if _TWO_DEVICES.search(str(error)):
            raise
        return Unmeasured(f"{type(error).__name__}: {str(error)[:_MOST_TEXT]}")


def _measured(function: Callable[..., Value], request: Measure, folder: str) -> Measured:
    args = _inputs(request)
    is_training = request.grad or bool(request.cotangents)
    args = [with_leaves(value) if is_training else value for value in args]
    tensors = [value for value in args if isinstance(value, Tensor)]
    from .allocations import AllocationModel

    model = AllocationModel(tensors, lambda: line_of(folder), request.most_operations)
    with torch.enable_grad():
        with model:
            result = function(*args, **request.kwargs)
        kept = model.live
        if is_training:  # from a gradient that was there before, as the loss's would be
            cotangents = request.cotangents or tuple(torch.ones_like(output) for output in floating(result))
            for cotangent in cotangents:
                model.exempt(cotangent)
            with model:
                backward(result, cotangents)
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
        value=None if request.tensors else result,
        args=() if request.tensors else tuple(gradients_of(value) for value in args),
        devices=tuple(sorted({tensor.device.type for tensor in tensors_in(result)})),
    )


def _inputs(request: Measure) -> list[Value]:
    """The arguments, with a fresh tensor for each of `request.tensors`."""
    args = list(request.args)
    generator = torch.Generator().manual_seed(_SEED)
    for index, shape, dtype in cast("list[tuple[int, tuple[int, ...], torch.dtype]]", list(request.tensors)):
        if not dtype.is_floating_point:
            tensor = torch.zeros(shape, dtype=dtype, device=request.device)
        elif request.fake:
            tensor = torch.empty(shape, dtype=dtype, device=request.device)
        else:
            drawn = torch.randn(shape, generator=generator, dtype=torch.float32)
            tensor = drawn.to(dtype=dtype, device=request.device)
        args[index] = tensor
    return args


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
