"""Pairs of sequences ask fairly, and an answer counts only where it comes from the weights."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import save
from torch import Tensor, nn

from autograder.testing.cases import Cases
from autograder.testing.mismatch import Mismatch
from support.order import A, B, accuracy_of, assert_accuracy, load_own, load_trained, pairs


@pytest.fixture
def cases() -> Cases:
    return Cases(b"key", "test_order")


class Model(nn.Module):
    """Sees order only through one parameter."""

    def __init__(self, position: str, causal: bool) -> None:
        super().__init__()
        self.certain = nn.Parameter(torch.zeros(1))

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        return _answers(tokens) * self.certain


class Counts(Model):
    """Sees order whatever the parameter is."""

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        return _answers(tokens)


def _answers(tokens: Tensor) -> Tensor:
    before = (tokens == A).int().argmax(1) < (tokens == B).int().argmax(1)
    return torch.stack((~before, before), dim=1).float()


REFERENCE: Any = SimpleNamespace(ARMS={"one": ("none", False)}, OrderModel=Model)


def handed_in(certain: float) -> Any:
    return {"order_one.safetensors": save({"certain": torch.tensor([certain])})}.get


def test_each_sequence_comes_with_a_and_b_exchanged(cases: Cases) -> None:
    tokens, labels = pairs(cases, 50, 7)
    assert tokens.shape == (100, 7) and labels.shape == (100,)
    for symbol, other in ((A, B), (B, A)):
        assert torch.equal(tokens[:50] == symbol, tokens[50:] == other)
        assert torch.equal((tokens == symbol).sum(1), torch.ones(100, dtype=torch.int64))
    assert torch.equal(labels[:50], 1 - labels[50:])
    assert torch.equal(labels.bool(), _answers(tokens)[:, 1].bool())
    fillers = tokens[(tokens != A) & (tokens != B)]
    assert torch.equal(fillers.unique(), torch.arange(2, 12))


def test_who_always_says_the_same_is_right_half_the_time(cases: Cases) -> None:
    assert accuracy_of(lambda tokens: torch.tensor([[0.0, 1.0]]).expand(len(tokens), 2), cases, (6, 9), 30) == 0.5


def test_weights_that_know_are_right(cases: Cases) -> None:
    trained = load_trained(Model, REFERENCE, handed_in(1.0), "one")
    assert trained.accuracy(cases, (6, 9), 30) == 1.0


def test_code_that_counts_is_no_answer_of_the_weights(cases: Cases) -> None:
    trained = load_trained(Counts, REFERENCE, handed_in(0.0), "one")
    with pytest.raises(Mismatch, match=r"order_one\.safetensors"):
        trained.accuracy(cases, (6,), 30)
    own = load_own(Counts("none", False), handed_in(0.0), "one")
    assert accuracy_of(own, cases, (6,), 30) == 1.0


@pytest.mark.parametrize("logits", [torch.zeros(2), torch.full((60, 2), float("nan")), "first", None])
def test_logits_of_another_form_are_a_mismatch(cases: Cases, logits: object) -> None:
    with pytest.raises(Mismatch):
        accuracy_of(lambda _: logits, cases, (6,), 30)


def test_an_accuracy_outside_its_bounds_is_told_in_percent() -> None:
    assert_accuracy(0.95, "order_one", least=0.95)
    with pytest.raises(Mismatch, match=r"accuracy of order_one: expected at least 95\.0%, got 94\.9%"):
        assert_accuracy(0.949, "order_one", least=0.95)
    with pytest.raises(Mismatch, match=r"48\.0% to 52\.0%, got 53\.0%"):
        assert_accuracy(0.53, "order_one", least=0.48, most=0.52)
