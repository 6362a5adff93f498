"""A student's module next to the oracle's, with the same parameters."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograder.testing.cases import Cases
from autograder.testing.mismatch import Mismatch
from autograder.testing.modules import assert_like, load_alike


class Reference(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.proj = nn.Linear(width, 2)

    def forward(self, x: Tensor, twice: bool = False) -> tuple[Tensor, Tensor]:
        return self.proj(x) * (2 if twice else 1), x


class WithBuffer(Reference):
    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.register_buffer("table", torch.ones(5))


class WithoutBias(Reference):
    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.proj = nn.Linear(width, 2, bias=False)


class TooWide(Reference):
    def __init__(self, width: int) -> None:
        super().__init__(width + 1)


def alike(student: type[nn.Module]) -> Any:
    return load_alike(student, Reference, Cases(b"key", "check"), 3)


def test_all_three_get_the_parameters_of_the_draw_and_no_bias_is_zero() -> None:
    loaded = alike(Reference)
    for name, value in loaded.oracle.state_dict().items():
        assert torch.equal(value.float(), loaded.module.state_dict()[name])
        assert torch.equal(value.float(), loaded.plain.state_dict()[name])
    assert loaded.oracle.state_dict()["proj.bias"].abs().min() > 0
    assert loaded.oracle.state_dict()["proj.weight"].dtype == torch.float64


def test_a_right_module_is_like_the_oracle_and_a_wrong_result_is_not() -> None:
    loaded = alike(Reference)
    x = Cases(b"key", "x").tensor(4, 3)
    assert_like(loaded, loaded.module(x, twice=True)[0], 0, "out", x, twice=True)
    with pytest.raises(Mismatch):
        assert_like(loaded, loaded.module(x)[0], 0, "out", x, twice=True)


def test_a_part_of_the_result_can_be_compared() -> None:
    loaded = alike(Reference)
    x = Cases(b"key", "x").tensor(4, 3)
    assert_like(loaded, loaded.module(x[2:3])[0], 0, "out", x, take=slice(2, 3))


def test_further_entries_of_a_state_dict_keep_their_values() -> None:
    loaded = alike(WithBuffer)
    assert torch.equal(loaded.module.table, torch.ones(5))


def test_a_module_in_float64_is_served_in_float64() -> None:
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        loaded = alike(Reference)
    finally:
        torch.set_default_dtype(default)
    assert loaded.dtype == torch.float64
    x = Cases(b"key", "x").tensor(4, 3)
    assert_like(loaded, loaded.module(x.to(loaded.dtype))[0], 0, "out", x)


def test_loading_some_parameters_changes_those_in_all_three() -> None:
    loaded = alike(Reference)
    before = loaded.oracle.state_dict()["proj.weight"].clone()
    loaded.load({"proj.bias": torch.tensor([7.0, 8.0])})
    for module in (loaded.module, loaded.oracle, loaded.plain):
        assert module.state_dict()["proj.bias"].tolist() == [7.0, 8.0]
    assert torch.equal(loaded.oracle.state_dict()["proj.weight"], before)


def test_a_parameter_that_is_missing_or_of_another_shape_is_named() -> None:
    with pytest.raises(Mismatch, match=r"a parameter proj.bias, as in the starter, got these names: proj.weight"):
        alike(WithoutBias)
    with pytest.raises(Mismatch, match=r"state_dict proj.weight: expected shape \(2, 3\), got shape \(2, 4\)"):
        alike(TooWide)
