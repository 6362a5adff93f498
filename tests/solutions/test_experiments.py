"""The reference of part 6: what its docstrings show, and that its weights are what its script writes."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions" / "08_transformers"


@pytest.fixture(scope="module")
def experiments() -> Iterator[ModuleType]:
    sys.path.insert(0, str(SOLUTIONS))  # it imports part 3
    spec = importlib.util.spec_from_file_location("solution_experiments", SOLUTIONS / "experiments.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(SOLUTIONS))
    sys.modules.pop("positions", None)


def test_the_label_says_whether_a_comes_first(experiments: ModuleType) -> None:
    tokens, labels = experiments.draw_sequences(100, 6, seed=0)
    for row, label in zip(tokens.tolist(), labels.tolist(), strict=True):
        assert (row.index(experiments.A) < row.index(experiments.B)) == bool(label)


def test_a_block_whose_last_layers_are_zero_changes_nothing(experiments: ModuleType) -> None:
    block = experiments.Block(12, 3)
    for layer in (block.attention.out_proj, block.feed_forward[-1]):
        nn.init.zeros_(layer.weight)
        nn.init.zeros_(layer.bias)
    x = torch.randn(2, 5, 12, generator=torch.Generator().manual_seed(0))
    assert torch.equal(block(x), x)


def test_training_moves_no_random_state_but_its_own(experiments: ModuleType, capsys: Any) -> None:
    before = torch.get_rng_state()
    experiments.train("rope", False, steps=1, seed=5)
    assert torch.equal(torch.get_rng_state(), before)
    assert "1/1" in capsys.readouterr().out


@pytest.mark.parametrize("arm", ["none", "none_causal", "sinusoidal", "learned", "rope"])
def test_the_weights_of_an_arm_fit_its_model_and_are_its_best(experiments: ModuleType, arm: str) -> None:
    model = experiments.OrderModel(*experiments.ARMS[arm])
    model.load_state_dict(load_file(SOLUTIONS / f"order_{arm}.safetensors"))
    found = experiments.accuracy(model, 11, count=400)
    assert 0.4 < found < 0.6 if arm == "none" else found > 0.95


def test_rows_of_positions_that_no_training_saw_stay_as_they_were_initialised(experiments: ModuleType) -> None:
    trained = load_file(SOLUTIONS / "order_learned.safetensors")["code.table.weight"]
    initial = experiments.train("learned", False, steps=0)["code.table.weight"]
    decay = (1 - experiments.LEARNING_RATE * 0.01) ** experiments.STEPS  # AdamW's, which needs no gradient
    assert torch.allclose(trained[16:], initial[16:] * decay, rtol=1e-4)
    assert float((trained[:16] - initial[:16]).abs().mean()) > 0.05
