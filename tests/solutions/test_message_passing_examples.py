"""The worked examples of part 4 hold, and its weights make torch's own layers with the values that they name."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch import Tensor, nn, tensor

SOLUTION = Path(__file__).resolve().parents[2] / "solutions" / "08_transformers" / "message_passing.py"


@pytest.fixture(scope="module")
def part() -> ModuleType:
    spec = importlib.util.spec_from_file_location("solution_message_passing", SOLUTION)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def assert_equal(got: Tensor, expected: Tensor) -> None:
    assert got.dtype == expected.dtype and got.shape == expected.shape
    assert torch.allclose(got, expected, atol=1e-6)


def test_one_head_gathers_and_its_values_double(part: ModuleType) -> None:
    x, weights = tensor([[1.0], [10.0]]), tensor([[[0.0, 1.0], [0.5, 0.5]]])
    assert_equal(part.aggregate(x, weights), tensor([[10.0], [5.5]]))
    assert_equal(part.aggregate(x, weights, tensor([[[2.0]]])), tensor([[20.0], [11.0]]))


def test_a_dense_matrix_is_one_head(part: ModuleType) -> None:
    W = tensor([[1.0, 2.0], [3.0, 4.0]])
    assert_equal(part.mlp_weights(W), W[None])


def test_the_first_head_of_a_kernel_of_three_reads_the_position_before(part: ModuleType) -> None:
    expected = tensor([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    assert_equal(part.conv_weights(3, 3, "zeros")[0], expected)
    expected[0, 2] = 1.0
    assert_equal(part.conv_weights(3, 3, "circular")[0], expected)


def test_two_nodes_send_to_a_third(part: ModuleType) -> None:
    A = tensor([[0.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert_equal(part.graph_weights(A, False), tensor([[[0.0, 0.5, 0.5], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]]))
    third = 1 / 3
    assert_equal(part.graph_weights(A, True), tensor([[[third] * 3, [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]]))


def test_equal_scores_give_equal_weights(part: ModuleType) -> None:
    q, k = tensor([[[0.0], [0.0]]]), tensor([[[3.0], [-1.0]]])
    assert_equal(part.attention_weights(q, k), torch.full((1, 2, 2), 0.5))


def test_one_row_of_pixels_is_a_line(part: ModuleType) -> None:
    heads = part.conv2d_weights(1, 3, "zeros")
    assert_equal(heads[3:6], part.conv_weights(3, 3, "zeros"))
    assert not bool(heads[:3].any()) and not bool(heads[6:].any())


@pytest.mark.parametrize("padding", ["zeros", "circular"])
def test_the_values_named_make_torchs_convolutions(part: ModuleType, padding: str) -> None:
    line = nn.Conv1d(2, 3, 5, padding=2, padding_mode=padding, bias=False)
    x = torch.randn(4, 7, 2)
    got = part.aggregate(x, part.conv_weights(7, 5, padding), line.weight.permute(2, 1, 0))
    assert_equal(got, line(x.mT).mT)
    plane = nn.Conv2d(2, 3, 3, padding=1, padding_mode=padding, bias=False)
    x = torch.randn(4, 5 * 6, 2)
    got = part.aggregate(x, part.conv2d_weights(5, 6, padding), plane.weight.flatten(2).permute(2, 1, 0))
    assert_equal(got, plane(x.mT.unflatten(-1, (5, 6))).flatten(-2).mT)


@pytest.mark.parametrize(("size", "padding"), [(2, "zeros"), (0, "zeros"), (3, "reflect")])
def test_a_kernel_without_a_middle_and_an_unknown_padding_are_refused(
    part: ModuleType, size: int, padding: str
) -> None:
    with pytest.raises(ValueError, match=f"{size}|{padding}"):
        part.conv_weights(5, size, padding)
