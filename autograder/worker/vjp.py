"""Vector-Jacobian products of student code: leaves in, cotangents back, gradients out.

It computes gradients by autograd, as the student's code builds the graph; comparing them is the check's business.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import torch

from .protocol.messages import Gradients, Value


class CotangentMismatch(ValueError):
    """The result does not have the shape, or the number, of what was to be pulled back."""


def pull_back(
    function: Callable[..., Value],
    module: object | None,
    args: tuple[Value, ...],
    kwargs: dict[str, Value],
    cotangents: tuple[Value, ...],
) -> Gradients:
    """Call `function` and pull `cotangents` back to every floating-point tensor of its arguments.

    `module` is the object whose parameters take part, if it is a `torch.nn.Module`. Raises what the call raises, and
    `CotangentMismatch`.
    """
    with torch.enable_grad():
        leaves: list[torch.Tensor] = []
        args = tuple(_with_leaves(value, leaves) for value in args)
        kwargs = {name: _with_leaves(value, leaves) for name, value in kwargs.items()}
        parameters = dict(torch.nn.Module.named_parameters(module)) if isinstance(module, torch.nn.Module) else {}
        wanted = [parameter for parameter in parameters.values() if parameter.requires_grad]
        value = function(*args, **kwargs)
        outputs, pulled = _paired(value, cotangents)
        found: dict[int, torch.Tensor | None] = {}
        if outputs and (leaves or wanted):
            inputs = [*leaves, *wanted]
            gradients = torch.autograd.grad(outputs, inputs, pulled, allow_unused=True)
            found = {id(tensor): gradient for tensor, gradient in zip(inputs, gradients, strict=True)}
    return Gradients(
        value,
        tuple(_gradients_of(item, found) for item in args),
        {name: _gradients_of(item, found) for name, item in kwargs.items()},
        {name: found.get(id(parameter)) for name, parameter in parameters.items()},
    )


def _with_leaves(value: Value, leaves: list[torch.Tensor]) -> Value:
    if isinstance(value, torch.Tensor):
        if not value.is_floating_point():
            return value
        leaf = value.detach().clone().requires_grad_(True)
        leaves.append(leaf)
        return leaf
    if type(value) is list or type(value) is tuple:
        items = [_with_leaves(item, leaves) for item in cast("list[Value]", value)]
        return items if isinstance(value, list) else tuple(items)
    if type(value) is dict:
        return {key: _with_leaves(item, leaves) for key, item in cast("dict[Any, Value]", value).items()}
    return value


def _gradients_of(value: Value, found: dict[int, torch.Tensor | None]) -> Value:
    if isinstance(value, torch.Tensor):
        return found.get(id(value))
    if type(value) is list or type(value) is tuple:
        items = [_gradients_of(item, found) for item in cast("list[Value]", value)]
        return items if isinstance(value, list) else tuple(items)
    if type(value) is dict:
        return {key: _gradients_of(item, found) for key, item in cast("dict[Any, Value]", value).items()}
    return None


def _paired(value: Value, cotangents: tuple[Value, ...]) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """The outputs that a gradient can flow from, each with its cotangent."""
    results = _floating(value)
    if len(results) != len(cotangents):
        raise CotangentMismatch(
            f"the result holds {len(results)} floating-point tensors, {len(cotangents)} are expected"
        )
    outputs: list[torch.Tensor] = []
    pulled: list[torch.Tensor] = []
    for result, cotangent in zip(results, cotangents, strict=True):
        if cotangent is None:
            continue
        if result.shape != cotangent.shape:
            raise CotangentMismatch(f"the result has shape {tuple(result.shape)}, expected is {tuple(cotangent.shape)}")
        if result.requires_grad:
            outputs.append(result)
            pulled.append(cotangent.to(result.dtype))
    return outputs, pulled


def _floating(value: Value) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value] if value.is_floating_point() else []
    if isinstance(value, dict):
        return [tensor for item in cast("dict[Any, Value]", value).values() for tensor in _floating(item)]
    if isinstance(value, (list, tuple)):
        return [tensor for item in cast("list[Value]", value) for tensor in _floating(item)]
    return []
