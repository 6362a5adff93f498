"""Does A come before B? Sequences to ask a trained model about, and what its answers are worth.

Each sequence comes also with A and B exchanged, so that who cannot see order is right exactly half the time. Where
points depend on it, answers are those of the handout's model with the weights that were handed in, computed by the
grader (`Trained`); the student's own model must give the same logits with them. So an answer can only come from
weights, and never from code that counts. It trains nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from autograder.testing.cases import Cases
from autograder.testing.mismatch import Mismatch, compared
from autograder.testing.modules import Alike
from autograder.testing.numbers import assert_close, assert_finite, assert_shape, assert_tensor, bound_by_reference
from autograder.testing.weights import fitted, parsed, read_weights

A, B, SYMBOLS = 0, 1, 12
SAME_MODEL = 1e-3
"""What logits of trained models may differ by, relative to the largest (or to 1): an angle held in float32 is legal."""

TRAINED_LENGTHS = range(6, 17)
AT_ONCE = 200
"""So many sequences are asked about in one call: 600 of length 32 took 90 MiB, in the worker and in the grader."""


def pairs(cases: Cases, count: int, length: int) -> tuple[Tensor, Tensor]:
    """Sequences of fillers with one A and one B, and each again with A and B exchanged.

    Args:
        cases: draws them.
        count: number of pairs.
        length: symbols in each sequence.

    Returns:
        tokens: (2 * count, length) int64; row count + i is row i with A and B exchanged.
        labels: (2 * count,) int64, 1 where A comes before B.
    """
    tokens = cases.integers(count, length, low=B + 1, high=SYMBOLS)
    places = cases.uniform(count, length, low=0.0, high=1.0, dtype=torch.float64).argsort(dim=1)[:, :2]
    rows = torch.arange(count)
    first, second = tokens.clone(), tokens.clone()
    first[rows, places[:, 0]], first[rows, places[:, 1]] = A, B
    second[rows, places[:, 0]], second[rows, places[:, 1]] = B, A
    labels = (places[:, 0] < places[:, 1]).long()
    return torch.cat((first, second)), torch.cat((labels, 1 - labels))


# ------------------------------------------------------------------ models with drawn weights


def assert_same_module(alike: Alike, got: Any, what: str, *args: Tensor, **kwargs: Any) -> None:
    """A module of several layers gives what the oracle's gives.

    Args:
        alike: the three modules.
        got: what the student's gave.
        what: its name.
        *args: the inputs: tokens as integers, or in float32.
        **kwargs: further inputs.

    Raises:
        Mismatch: beyond four times what the reference errs in float32, or 1e-4 of the largest value (or of 1).
    """
    with torch.no_grad():
        expected = alike.oracle(*(x.double() if x.is_floating_point() else x for x in args), **kwargs)
        own = alike.plain(*args, **kwargs)
    within = max(bound_by_reference(own, expected), 1e-4 * max(1.0, float(expected.abs().max())))
    assert_close(got, expected, what, within=within)


# ------------------------------------------------------------------ models with trained weights


@dataclass(frozen=True)
class Trained:
    """One arm of the experiment: the student's model and the handout's, both with the weights that were handed in."""

    arm: str
    model: Callable[..., Any]
    oracle: nn.Module

    def logits(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        """(B, 2): what the weights say in the handout's model. The student's must say the same.

        Raises:
            Mismatch: where it does not.
        """
        given = {} if positions is None else {"positions": positions}
        got = self.model(tokens, **given)
        with torch.no_grad():
            expected = self.oracle(tokens, **given)
        within = SAME_MODEL * max(1.0, float(expected.abs().max()))
        what = f"logits of your OrderModel with order_{self.arm}.safetensors"
        try:
            assert_close(got, expected, what, within=within)
        except Mismatch as mismatch:
            hint = "with these weights the model of the handout gives something else: is yours the same model?"
            raise Mismatch(what, mismatch.expected, mismatch.got, mismatch.hint or hint) from None
        return expected

    def accuracy(self, cases: Cases, lengths: Iterable[int], count: int) -> float:
        """The fraction of right answers over `count` pairs of each length."""
        return accuracy_of(self.logits, cases, lengths, count)


def accuracy_of(logits: Callable[[Tensor], Any], cases: Cases, lengths: Iterable[int], count: int) -> float:
    """The fraction of right answers over `count` pairs of each length.

    Args:
        logits: tokens (B, n) -> (B, 2).
        cases: draws the pairs.
        lengths: each n.
        count: pairs of each length.

    Raises:
        Mismatch: where what `logits` gives is no finite tensor of that shape.
    """
    right: list[Tensor] = []
    for length in lengths:
        every_token, every_label = pairs(cases, count, length)
        for first in range(0, len(every_token), AT_ONCE):
            tokens, labels = every_token[first : first + AT_ONCE], every_label[first : first + AT_ONCE]
            got = logits(tokens)
            compared(got, None, "logits")
            values = assert_finite(assert_tensor(got, "logits"), "logits")
            assert_shape(values, (len(tokens), 2), "logits")
            right.append(values.argmax(dim=-1) == labels)
    return float(torch.cat(right).double().mean())


def load_trained(student_class: Any, reference: Any, handed_in: Callable[[str], bytes | None], arm: str) -> Trained:
    """The model of one arm of the reference's ARMS, with the weights in order_<arm>.safetensors.

    Raises:
        Mismatch: where these are missing or do not fit, or a parameter of the student's model is not the starter's.
    """
    position, causal = reference.ARMS[arm]
    oracle: nn.Module = reference.OrderModel(position, causal).float()
    weights = read_weights(handed_in(f"order_{arm}.safetensors"), f"order_{arm}.safetensors", oracle.state_dict())
    oracle.load_state_dict(weights)
    model = student_class(position, causal)
    model.load_state_dict({**_known(model.state_dict(), weights), **weights})
    return Trained(arm, model, oracle)


def load_own(model: Any, handed_in: Callable[[str], bytes | None], arm: str) -> Any:
    """A student's model, with the weights in order_<arm>.safetensors: what it answers is the word of its own code.

    Nobody but the student knows which names are parameters, and which are buffers that need not be in the file.

    Raises:
        Mismatch: where the file is missing, or has nothing that the model has, or a tensor has another shape.
    """
    name, state = f"order_{arm}.safetensors", model.state_dict()
    stored = parsed(handed_in(name), name)
    common = {key: value for key, value in state.items() if key in stored and value.is_floating_point()}
    if not common:
        raise Mismatch(name, "the names of your model, " + ", ".join(list(state)[:3]) + " ...", ", ".join(stored)[:200])
    model.load_state_dict({**state, **fitted(stored, name, common)})
    return model


def _known(state: Mapping[str, Tensor], weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The state of a student's model, once it is known to have every parameter of the starter."""
    for name, value in weights.items():
        if name not in state:
            raise Mismatch("state_dict", f"a parameter {name}, as in the starter", f"these: {', '.join(state)}")
        if state[name].shape != value.shape:
            raise Mismatch(f"state_dict {name}", f"shape {tuple(value.shape)}", f"shape {tuple(state[name].shape)}")
    return dict(state)


def assert_accuracy(got: float, of: str, *, least: float = 0.0, most: float = 1.0, hint: str = "") -> None:
    """An accuracy lies within these bounds.

    Raises:
        Mismatch: in percent.
    """
    if not least <= got <= most:
        bounds = f"at least {least:.1%}" if most >= 1.0 else f"{least:.1%} to {most:.1%}"
        raise Mismatch(f"accuracy of {of}", bounds, f"{got:.1%}", hint)
