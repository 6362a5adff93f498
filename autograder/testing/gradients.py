"""Do gradients flow, and are they right? Vector-Jacobian products, compared with those of the oracle.

`vjp` pulls cotangents back through a function of ours (the oracle). A student's function is pulled back in the worker,
by `student.vjp`, and only the gradients come here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn

from autograder.testing.mismatch import Mismatch, compared
from autograder.testing.numbers import assert_close, assert_finite, assert_tensor


@dataclass(frozen=True)
class Pullback:
    """Gradients of positional arguments (None for what is no floating-point tensor) and of parameters by name."""

    args: tuple[Tensor | None, ...]
    parameters: dict[str, Tensor | None]


def vjp(
    function: Callable[..., Any], args: Sequence[Any], cotangents: Sequence[Tensor | None], **kwargs: Any
) -> Pullback:
    """Call a function and pull cotangents back through it.

    Args:
        function: gives a tensor, or a tuple of them; of a module the parameters get gradients too. One of `reference`
            is pulled back where it lives.
        args: positional arguments; floating-point tensors among them become leaves.
        cotangents: one for each tensor of the result, of its shape; None: that output takes no part.
        **kwargs: passed as they are.
    """
    if hasattr(type(function), "_remote_pull_back"):
        found: Any = cast(Any, function)._remote_pull_back(args, cotangents, kwargs)
        return Pullback(found.args, found.parameters)
    leaves = [_leaf(value) for value in args]
    parameters = dict(function.named_parameters()) if isinstance(function, nn.Module) else {}
    with torch.enable_grad():
        result = function(*leaves, **kwargs)
    outputs: Sequence[Tensor] = (result,) if isinstance(result, Tensor) else result
    # A sum and not `grad_outputs`: those make torch import sympy, a quarter of a second.
    total = sum((out * given).sum() for out, given in zip(outputs, cotangents, strict=True) if given is not None)
    inputs = [value for value in leaves if _is_floating(value)] + list(parameters.values())
    assert isinstance(total, Tensor), "every cotangent is None"
    gradients = iter(torch.autograd.grad(total, inputs, allow_unused=True))
    return Pullback(
        args=tuple(next(gradients) if _is_floating(value) else None for value in leaves),
        parameters={name: next(gradients) for name in parameters},
    )


def assert_gradients(
    got: Mapping[str, Any], expected: Mapping[str, Tensor], own: Mapping[str, Tensor], *, floor: float = 1e-5
) -> None:
    """Each gradient arrives, is finite, and is the oracle's up to rounding.

    The error allowed is four times the reference's own error in the same dtype, or `floor` x the largest of all the
    gradients if that is more: some gradients (of a bias of the keys) are sums that cancel to almost nothing.

    Args:
        got: gradients by name; None where none flows.
        expected: the oracle's in float64, by name.
        own: the reference's in the dtype of the check, by name.
        floor: relative to the largest gradient; 8 eps in half types.

    Raises:
        Mismatch: naming the argument that no gradient reaches, or the numbers that differ.
    """
    largest = max(float(value.abs().max()) for value in expected.values())
    for name, oracle in expected.items():
        what = f"gradient by {name}"
        if got.get(name) is None:
            assert_arrives(None, name)
        error = float((own[name].double() - oracle).abs().max())
        assert_close(got[name], oracle, what, within=max(4 * error, floor * largest))


def assert_arrives(gradient: Any, name: str) -> Tensor:
    """A gradient came back, and it is finite.

    Raises:
        Mismatch: naming the argument that no gradient reaches, or showing one that is not finite.
    """
    what = f"gradient by {name}"
    compared(gradient, None, what)
    if gradient is None:
        hint = ".detach(), .data, .item(), numpy() and no_grad() cut the graph"
        raise Mismatch(what, "a gradient", f"none: nothing flows back to {name}", hint)
    return assert_finite(assert_tensor(gradient, what), what)


def _is_floating(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point()


def _leaf(value: Any) -> Any:
    return value.detach().clone().requires_grad_() if _is_floating(value) else value
