"""Vector-Jacobian products of student code: leaves in, cotangents back, gradients out.

It computes gradients as a student does, by `backward`: reentrant checkpoints refuse `torch.autograd.grad`. Comparing
the gradients is the check's business.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import torch

from .protocol.messages import Gradients, Value, Vjp


class CotangentMismatch(ValueError):
    """The result does not have the shape, or the number, of what was to be pulled back."""


def pull_back(function: Callable[..., Value], module: object | None, request: Vjp) -> Gradients:
    """Call `function` and pull the cotangents of `request` back to every floating-point tensor of its arguments.

    `module` is the object whose parameters take part, if it is a `torch.nn.Module`. Raises what the call raises, and
    `CotangentMismatch`.
    """
    parameters = dict(torch.nn.Module.named_parameters(module)) if isinstance(module, torch.nn.Module) else {}
    for parameter in parameters.values():
        parameter.grad = None
    args = tuple(v if i in request.frozen else with_leaves(v) for i, v in enumerate(request.args))
    kwargs = {name: with_leaves(value) for name, value in request.kwargs.items()}
    given = [None if each is None else each.clone() for each in request.cotangents]
    with torch.enable_grad():
        value = function(*args, **kwargs)
        if request.then:
            function(*(with_leaves(each) for each in request.then), **kwargs)
        backward(value, request.cotangents)
    return Gradients(
        value,
        tuple(gradients_of(item) for item in args),
        {name: gradients_of(item) for name, item in kwargs.items()},
        {name: gradients_of(parameter) for name, parameter in parameters.items()},
        any(a is not None and not a.equal(b) for a, b in zip(given, request.cotangents, strict=True)),
    )


def with_leaves(value: Value) -> Value:
    """`value`, in which each floating-point tensor requires gradients. (It is the worker's own copy already.)"""
    if isinstance(value, torch.Tensor):
        return value.detach().requires_grad_() if value.is_floating_point() else value
    return mapped(value, with_leaves)


def gradients_of(value: Value) -> Value:
    """What arrived at each leaf in `value`; None where nothing did, and for anything else."""
    if isinstance(value, torch.Tensor):
        return value.grad
    return mapped(value, gradients_of) if isinstance(value, (list, tuple, dict)) else None


def backward(value: Value, cotangents: tuple[Value, ...]) -> None:
    """Pull `cotangents` back from the floating-point tensors in `value`, as far as a gradient can flow from them.

    Raises `CotangentMismatch`.
    """
    results = floating(value)
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
    if outputs:
        torch.autograd.backward(outputs, pulled)


def mapped(value: Value, change: Callable[[Value], Value]) -> Value:
    """A list, tuple or dict with each of its items changed; anything else as it is."""
    if type(value) is list or type(value) is tuple:
        items = [change(item) for item in cast("list[Value]", value)]
        return items if isinstance(value, list) else tuple(items)
    if type(value) is dict:
        return {key: change(item) for key, item in cast("dict[Any, Value]", value).items()}
    return value


def floating(value: Value) -> list[torch.Tensor]:
    """The floating-point tensors in a value, in order."""
    return [tensor for tensor in tensors_in(value) if tensor.is_floating_point()]


def tensors_in(value: Value) -> list[torch.Tensor]:
    """The tensors in a value, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(cast("dict[Any, Value]", value).values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in cast("list[Value]", value) for tensor in tensors_in(item)]
    return []
