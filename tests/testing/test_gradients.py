"""Vector-Jacobian products of ours, and the comparison with a student's."""

from __future__ import annotations

import sys

import pytest
import torch
from torch import Tensor, nn

from autograder.testing.gradients import assert_gradients, vjp
from autograder.testing.mismatch import Mismatch


def product(x: Tensor, y: Tensor, times: int = 1) -> tuple[Tensor, Tensor]:
    return x * y * times, x.sum()


def test_a_product_pulls_back_to_the_other_factor() -> None:
    x, y, cotangent = torch.rand(3), torch.rand(3), torch.rand(3)
    pulled = vjp(product, (x, y), (cotangent, None), times=2)
    assert pulled.args[0] is not None and pulled.args[1] is not None
    assert torch.allclose(pulled.args[0], 2 * y * cotangent)
    assert torch.allclose(pulled.args[1], 2 * x * cotangent)


def test_every_output_takes_part_that_has_a_cotangent() -> None:
    x, y = torch.rand(3), torch.rand(3)
    pulled = vjp(product, (x, y), (torch.zeros(3), torch.tensor(5.0)))
    assert pulled.args[0] is not None
    assert torch.equal(pulled.args[0], torch.full((3,), 5.0))


def test_arguments_that_are_no_floating_point_tensors_get_none() -> None:
    pulled = vjp(
        lambda x, mask, n: x[mask] * n, (torch.rand(3), torch.tensor([True, False, True]), 2), (torch.ones(2),)
    )
    assert pulled.args[1] is None and pulled.args[2] is None
    assert pulled.args[0] is not None and pulled.args[0].tolist() == [2.0, 0.0, 2.0]


def test_parameters_of_a_module_get_gradients_by_name() -> None:
    module = nn.Linear(3, 2).double()
    x, cotangent = torch.rand(4, 3, dtype=torch.float64), torch.rand(4, 2, dtype=torch.float64)
    pulled = vjp(module, (x,), (cotangent,))
    assert set(pulled.parameters) == {"weight", "bias"}
    assert pulled.parameters["bias"] is not None
    assert torch.allclose(pulled.parameters["bias"], cotangent.sum(0))
    assert module.weight.grad is None


def test_the_arguments_of_the_caller_stay_without_grad() -> None:
    x = torch.rand(3)
    vjp(torch.exp, (x,), (torch.ones(3),))
    assert not x.requires_grad and x.grad is None


def test_pulling_back_in_the_grader_imports_no_sympy() -> None:
    had = "sympy" in sys.modules
    vjp(torch.exp, (torch.rand(3),), (torch.ones(3),))
    assert had or "sympy" not in sys.modules


EXPECTED = {"q": torch.tensor([1.0, 2.0], dtype=torch.float64), "k": torch.zeros(3, dtype=torch.float64)}
OWN = {name: value.float() for name, value in EXPECTED.items()}


def test_gradients_that_cancel_to_nothing_may_err_by_the_size_of_the_others() -> None:
    assert_gradients({"q": OWN["q"], "k": torch.full((3,), 1e-5)}, EXPECTED, OWN)
    with pytest.raises(Mismatch):
        assert_gradients({"q": OWN["q"], "k": torch.full((3,), 1e-4)}, EXPECTED, OWN)


def test_four_times_the_error_of_the_reference_is_allowed() -> None:
    own = {"q": OWN["q"] + 1e-3, "k": OWN["k"]}
    assert_gradients({"q": OWN["q"] + 3.5e-3, "k": OWN["k"]}, EXPECTED, own)
    with pytest.raises(Mismatch):
        assert_gradients({"q": OWN["q"] + 5e-3, "k": OWN["k"]}, EXPECTED, own)


def test_a_gradient_that_does_not_arrive_is_told_by_name() -> None:
    with pytest.raises(Mismatch) as raised:
        assert_gradients({"q": None, "k": OWN["k"]}, EXPECTED, OWN)
    assert raised.value.what == "gradient by q"
    assert "cut the graph" in raised.value.hint


def test_a_gradient_of_nan_does_not_pass() -> None:
    with pytest.raises(Mismatch, match="finite"):
        assert_gradients({"q": OWN["q"] * torch.nan, "k": OWN["k"]}, EXPECTED, OWN)
