"""The worked examples in the docstrings of the reference solutions, which students read in the starter code, hold."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch import Tensor, tensor

SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"solution_{Path(name).stem}", SOLUTIONS / name)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def attention() -> ModuleType:
    return load("08_transformers/attention.py")


def assert_equal(got: Tensor, expected: Tensor) -> None:
    assert got.dtype == expected.dtype and got.shape == expected.shape
    assert torch.allclose(got, expected, atol=1e-6) if got.is_floating_point() else torch.equal(got, expected)


@pytest.mark.parametrize("name", ["00_warmup/warmup.py", "08_transformers/attention.py"])
def test_softmax_of_0_and_log_3_is_a_quarter_and_three(name: str) -> None:
    assert_equal(load(name).softmax(tensor([0.0, math.log(3)]), dim=0), tensor([0.25, 0.75]))


def test_one_key_alone_is_attended_to_by_every_query(attention: ModuleType) -> None:
    v = tensor([[2.0, 4.0]])
    assert_equal(attention.attention_with_loops(tensor([[1.0], [-3.0]]), tensor([[5.0]]), v), v.expand(2, 2))


def test_equal_scores_average_the_values_and_a_mask_picks_one(attention: ModuleType) -> None:
    q, k, v = tensor([[0.0, 0.0]]), tensor([[1.0, 2.0], [3.0, -1.0]]), tensor([[2.0], [4.0]])
    out, weights = attention.scaled_dot_product_attention(q, k, v)
    assert_equal(weights, tensor([[0.5, 0.5]]))
    assert_equal(out, tensor([[3.0]]))
    out, _ = attention.scaled_dot_product_attention(q, k, v, tensor([[True, False]]))
    assert_equal(out, tensor([[2.0]]))


def test_a_causal_mask_aligns_the_last_query_with_the_last_key(attention: ModuleType) -> None:
    assert_equal(attention.causal_mask(2, 3), tensor([[True, True, False], [True, True, True]]))
    assert_equal(attention.causal_mask(3, 2), tensor([[False, False], [True, False], [True, True]]))


def test_a_padding_mask_is_true_for_tokens(attention: ModuleType) -> None:
    expected = tensor([[[True, False, False]], [[True, True, True]]])
    assert_equal(attention.padding_mask(tensor([1, 3]), 3), expected)


def test_one_head_with_identity_projections_is_plain_attention(attention: ModuleType) -> None:
    module = attention.MultiHeadAttention(3, 1)
    with torch.no_grad():
        for projection in (module.q_proj, module.k_proj, module.v_proj, module.out_proj):
            projection.weight.copy_(torch.eye(3))
            projection.bias.zero_()
    x = torch.linspace(-1, 1, 12).reshape(4, 3)
    out, weights = module(x)
    expected_out, expected_weights = attention.scaled_dot_product_attention(x, x, x)
    assert_equal(out, expected_out)
    assert_equal(weights, expected_weights.unsqueeze(0))


def test_heads_that_do_not_divide_the_width_are_refused(attention: ModuleType) -> None:
    with pytest.raises(ValueError, match="5 heads do not divide a width of 12"):
        attention.MultiHeadAttention(12, 5)
    with pytest.raises(ValueError, match="4 key/value heads do not divide 6 query heads"):
        attention.MultiHeadAttention(12, 6, kv_heads=4)
