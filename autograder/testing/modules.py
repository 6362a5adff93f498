"""A student's module and the oracle with the same parameters, loaded by name.

The check draws the parameters, so a student's initialisation plays no part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from autograder.testing.cases import Cases
from autograder.testing.mismatch import Mismatch
from autograder.testing.numbers import assert_close, bound_by_reference


@dataclass(frozen=True)
class Alike:
    """One module three times, with equal parameters.

    `dtype` is that of the student's parameters: float32, unless the submission changed torch's default. Inputs must
    have it.
    """

    module: Any
    oracle: nn.Module
    plain: nn.Module
    dtype: torch.dtype

    def load(self, parameters: Mapping[str, Tensor]) -> None:
        """Load these parameters into all three modules."""
        for module in (self.module, self.oracle, self.plain):
            module.load_state_dict({**module.state_dict(), **parameters})


def load_alike(
    student_class: Callable[..., Any],
    reference_class: Callable[..., nn.Module],
    cases: Cases,
    *args: Any,
    **kwargs: Any,
) -> Alike:
    """Make the student's module, the oracle in float64, the reference in float32, all with the same parameters.

    Weights are normal with variance 1 / (width of the input), biases normal with variance 1/4: no matrix is
    symmetric, no bias 0.

    Raises:
        Mismatch: when a parameter of the starter is missing, or has another shape.
    """
    module = student_class(*args, **kwargs)
    oracle = reference_class(*args, **kwargs).double()
    plain = reference_class(*args, **kwargs).float()
    drawn = {name: _draw(cases, tuple(value.shape)) for name, value in oracle.state_dict().items()}
    state = module.state_dict()
    _assert_names(state, drawn)
    alike = Alike(module, oracle, plain, state[next(iter(drawn))].dtype)
    alike.load(drawn)
    return alike


def _draw(cases: Cases, shape: tuple[int, ...]) -> Tensor:
    return cases.tensor(*shape, scale=0.5 if len(shape) == 1 else shape[-1] ** -0.5)


def _assert_names(state: dict[str, Tensor], drawn: dict[str, Tensor]) -> None:
    for name, value in drawn.items():
        if name not in state:
            have = ", ".join(state) or "none"
            raise Mismatch("state_dict", f"a parameter {name}, as in the starter", f"these names: {have}")
        if state[name].shape != value.shape:
            raise Mismatch(f"state_dict {name}", f"shape {tuple(value.shape)}", f"shape {tuple(state[name].shape)}")


def assert_like(alike: Alike, got: Any, output: int, what: str, *args: Tensor, take: Any = ..., **kwargs: Any) -> None:
    """One output of the student's module is the oracle's, as near as `bound_by_reference` allows.

    Args:
        alike: the three modules.
        got: what the student's gave.
        output: which of the values that `forward` returns is compared.
        what: its name, for the message.
        *args: the inputs, in float32.
        take: an index into the oracle's output, where only a part of it is compared.
        **kwargs: further inputs, such as masks, passed as they are.

    Raises:
        Mismatch: with the numbers around the worst place.
    """
    with torch.no_grad():
        expected = alike.oracle(*(value.double() for value in args), **kwargs)[output][take]
        own = alike.plain(*args, **kwargs)[output][take]
    assert_close(got, expected, what, within=bound_by_reference(own, expected), dtype=alike.dtype)
