"""Textbook layers are torch's own, every legal formula passes the bounds, and symmetries are found as they are."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograder.testing.cases import Cases
from autograder.testing.mismatch import Mismatch
from autograder.testing.numbers import assert_close, rounding
from support import layers, message_passing
from support.permutations import GROUPS, all_orders, assert_not_one_for_all, assert_predicted, commuting, members

DRAWS = 50
FORK = torch.tensor([[0, 1, 1, 1, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [1, 0, 0, 0, 1], [0, 0, 0, 1, 0]]).float()


# ------------------------------------------------------------------ legal ways to write part 4


def gather_first(x: Tensor, weights: Tensor, values: Tensor) -> Tensor:
    return (weights @ x.unsqueeze(-3) @ values).sum(-3)


def map_first(x: Tensor, weights: Tensor, values: Tensor) -> Tensor:
    return (weights @ (x.unsqueeze(-3) @ values)).sum(-3)


def one_einsum(x: Tensor, weights: Tensor, values: Tensor) -> Tensor:
    return torch.einsum("...hij,...jd,hde->...ie", weights, x, values)


def one_wide_product(x: Tensor, weights: Tensor, values: Tensor) -> Tensor:
    mapped = (x.unsqueeze(-3) @ values).flatten(-3, -2)
    return weights.transpose(-3, -2).flatten(-2) @ mapped


def loops(x: Tensor, weights: Tensor, values: Tensor) -> Tensor:
    total: Any = 0.0
    for h in range(len(values)):
        rows = [sum(weights[..., h, i, j, None] * x[..., j, :] for j in range(x.shape[-2])) for i in range(x.shape[-2])]
        total = total + torch.stack(rows, dim=-2) @ values[h]
    return total


AGGREGATES = (gather_first, map_first, one_einsum, one_wide_product, loops)


def by_division(A: Tensor) -> Tensor:
    return A / A.sum(1, keepdim=True).clamp(min=1)


def by_reciprocal_product(A: Tensor) -> Tensor:
    return torch.diag(1 / A.sum(1).clamp(min=1)) @ A


def sym_by_roots(A: Tensor) -> Tensor:
    roots = A.sum(1).clamp(min=1).sqrt()
    return A / roots[:, None] / roots


def sym_by_powers(A: Tensor) -> Tensor:
    powers = A.sum(1).clamp(min=1).pow(-0.5)
    return torch.diag(powers) @ A @ torch.diag(powers)


def sym_by_rsqrt(A: Tensor) -> Tensor:
    degree = A.sum(1).clamp(min=1)
    return A * torch.rsqrt(degree[:, None] * degree)


def by_softmax(q: Tensor, k: Tensor) -> Tensor:
    return torch.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1)


def by_logarithm(q: Tensor, k: Tensor) -> Tensor:
    root = q.shape[-1] ** -0.25
    return torch.log_softmax((q * root) @ (k * root).mT, -1).exp()


def by_powers_of_two(q: Tensor, k: Tensor) -> Tensor:
    scores = torch.einsum("...id,...jd->...ij", q, k) * (1.4426950408889634 * q.shape[-1] ** -0.5)
    powers = torch.exp2(scores - scores.amax(-1, keepdim=True))
    return powers * (1 / powers.sum(-1, keepdim=True))


def shifts(n: int, size: int, padding: str) -> Tensor:
    read = torch.arange(n)[:, None] + torch.arange(size)[:, None, None] - size // 2
    return ((read % n if padding == "circular" else read) == torch.arange(n)).float()


def student(
    aggregate: Callable[..., Tensor] = gather_first,
    row: Callable[[Tensor], Tensor] = by_division,
    sym: Callable[[Tensor], Tensor] = sym_by_roots,
    attention_weights: Callable[..., Tensor] = by_softmax,
) -> SimpleNamespace:
    """Part 4 out of these formulas."""

    def graph_weights(A: Tensor, self_loops: bool, norm: str) -> Tensor:
        return (row if norm == "row" else sym)(A + torch.eye(len(A), dtype=A.dtype) * self_loops).unsqueeze(0)

    return SimpleNamespace(
        aggregate=aggregate,
        mlp_weights=lambda W: W.unsqueeze(0),
        conv_weights=shifts,
        graph_weights=graph_weights,
        attention_weights=attention_weights,
    )


def operators(part: SimpleNamespace, cases: Cases) -> list[message_passing.Operator]:
    return [
        message_passing.dense(part, cases, 4, 2, 3),
        message_passing.convolution(part, cases, 6, 3, "zeros", 4, 5),
        message_passing.convolution(part, cases, 7, 5, "circular", 4, 5),
        message_passing.graph(part, cases, message_passing.draw_graph(cases, 5, directed=True), False, "row", 4, 3),
        message_passing.graph(part, cases, message_passing.draw_graph(cases, 6, directed=False), True, "sym", 4, 3),
        message_passing.attention(part, cases, 5, 3, 6, 4),
    ]


# ------------------------------------------------------------------ layers


@pytest.mark.parametrize("padding", ["zeros", "circular"])
@pytest.mark.parametrize(("n", "size"), [(1, 1), (3, 3), (6, 5), (9, 7)])
def test_the_textbook_convolution_is_torchs(n: int, size: int, padding: str) -> None:
    layer = nn.Conv1d(2, 3, size, padding=size // 2, padding_mode=padding, bias=False).double()
    x = torch.randn(4, n, 2, dtype=torch.float64)
    assert torch.allclose(layers.convolution(x, layer.weight, padding), layer(x.mT).mT)


@pytest.mark.parametrize("padding", ["zeros", "circular"])
def test_the_textbook_convolution_in_the_plane_is_torchs(padding: str) -> None:
    layer = nn.Conv2d(2, 3, 3, padding=1, padding_mode=padding, bias=False).double()
    x = torch.randn(5, 4 * 6, 2, dtype=torch.float64)
    expected = layer(x.mT.unflatten(-1, (4, 6))).flatten(-2).mT
    assert torch.allclose(layers.convolution_in_the_plane(x, layer.weight, 4, 6, padding), expected)


def test_the_textbook_dense_layer_is_torchs() -> None:
    layer = nn.Linear(4 * 2, 4 * 3, bias=False).double()
    x = torch.randn(5, 4, 2, dtype=torch.float64)
    expected = layer(x.flatten(-2)).unflatten(-1, (4, 3))
    assert torch.allclose(layers.dense(x, layer.weight.unflatten(1, (4, 2)).unflatten(0, (4, 3))), expected)


def test_the_textbook_attention_is_torchs() -> None:
    layer = nn.MultiheadAttention(6, 3, bias=False, batch_first=True).double()
    x = torch.randn(2, 5, 6, dtype=torch.float64)
    projections = [weight.T for weight in layer.in_proj_weight.chunk(3)]
    got = layers.multi_head_attention(x, *projections, layer.out_proj.weight.T, heads=3)
    assert torch.allclose(got, layer(x, x, x)[0])


def test_the_textbook_graph_layers_are_their_matrices() -> None:
    A, x, values = FORK.double(), torch.randn(3, 5, 2, dtype=torch.float64), torch.randn(2, 4, dtype=torch.float64)
    looped = A + torch.eye(5)
    assert torch.allclose(layers.mean_of_senders(x, A, values, False), by_division(A) @ x @ values)
    assert torch.allclose(layers.graph_convolution(x, A, values, True), sym_by_powers(looped) @ x @ values)


# ------------------------------------------------------------------ bounds


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_every_legal_aggregation_passes_its_bound(aggregate: Callable[..., Tensor], dtype: torch.dtype) -> None:
    cases = Cases(b"key", "aggregate")
    for _ in range(DRAWS):
        for leading, heads, n, d_in, d_out in [((), 1, 1, 1, 1), ((), 3, 4, 2, 5), ((2,), 4, 5, 6, 7)]:
            x, weights = cases.tensor(*leading, n, d_in, dtype=dtype), cases.tensor(*leading, heads, n, n, dtype=dtype)
            values = cases.tensor(heads, d_in, d_out, dtype=dtype)
            expected = layers.summed_over_heads(x.double(), weights.double(), values.double())
            within = message_passing.aggregate_bound(x, weights, values)
            assert_close(aggregate(x, weights, values), expected, "out", within=within, dtype=dtype)


@pytest.mark.parametrize("aggregate", AGGREGATES)
@pytest.mark.parametrize("row", [by_division, by_reciprocal_product])
@pytest.mark.parametrize("sym", [sym_by_roots, sym_by_powers, sym_by_rsqrt])
@pytest.mark.parametrize("attention", [by_softmax, by_logarithm, by_powers_of_two])
def test_every_legal_operator_is_its_layer(aggregate: Any, row: Any, sym: Any, attention: Any) -> None:
    part, cases = student(aggregate, row, sym, attention), Cases(b"key", "operators")
    for _ in range(4):
        for operator in operators(part, cases):
            n, d_in = operator.sees.shape[0], operator.values.shape[1]
            message_passing.assert_is_layer(operator, cases.tensor(2, n, d_in))
            message_passing.assert_works(operator, cases.tensor(n, d_in), part, cases)


@pytest.mark.parametrize("formula", [by_division, by_reciprocal_product, sym_by_roots, sym_by_powers, sym_by_rsqrt])
def test_every_legal_norm_of_a_graph_errs_less_than_eight_roundings(formula: Callable[[Tensor], Tensor]) -> None:
    cases = Cases(b"key", "norms")
    for _ in range(DRAWS):
        A = message_passing.draw_graph(cases, 6, directed=False)
        expected = (sym_by_roots if formula.__name__.startswith("sym") else by_division)(A.double())
        assert_close(formula(A), expected, "weights", within=8 * rounding(A.dtype), dtype=A.dtype)


# ------------------------------------------------------------------ who listens, and what commutes


def test_an_output_moves_with_the_tokens_it_listens_to_and_no_other() -> None:
    part, cases = student(), Cases(b"key", "listening")
    for _ in range(DRAWS):
        for operator in operators(part, cases):
            n, d_in = operator.sees.shape[0], operator.values.shape[1]
            moved = cases.tensor(n, d_in, scale=0.5).repeat(1 + n, 1, 1)
            moved[torch.arange(1, n + 1), torch.arange(n)] += 1.0
            out = operator(moved)
            message_passing.assert_listens(out, operator.sees)
            if n > 5:
                with pytest.raises(Mismatch, match=r"tokens that move out\[0\]"):
                    message_passing.assert_listens(out, ~operator.sees)


def test_groups_have_as_many_members_as_they_should() -> None:
    orders = all_orders(5)
    assert [int(members(group, orders, FORK).sum()) for group in GROUPS] == [1, 5, 2, 120]
    assert int(members("automorphisms", orders, torch.zeros(5, 5)).sum()) == 120
    assert orders[0].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("layer", "group"),
    [("dense", "none"), ("zeros", "none"), ("circular", "cyclic"), ("graph", "automorphisms"), ("attention", "all")],
)
def test_a_layer_is_found_to_commute_with_its_group_and_with_nothing_else(layer: str, group: str) -> None:
    part, cases, orders = student(), Cases(b"key", layer), all_orders(5)
    for _ in range(DRAWS):
        operator = {
            "dense": lambda: message_passing.dense(part, cases, 5, 2, 3),
            "zeros": lambda: message_passing.convolution(part, cases, 5, 3, "zeros", 2, 4),
            "circular": lambda: message_passing.convolution(part, cases, 5, 3, "circular", 2, 4),
            "graph": lambda: message_passing.graph(part, cases, FORK, False, "row", 2, 4),
            "attention": lambda: message_passing.attention(part, cases, 5, 3, 2, 4),
        }[layer]()
        out = operator(cases.tensor(5, 2)[orders])
        assert torch.equal(commuting(out, orders), members(group, orders, FORK))
        # Nothing lies near the threshold: rounding is below a tenth of it, everything else above ten times it.
        error = (out - out[0][orders]).abs().flatten(1).amax(1) / out[0].abs().max()
        assert not bool(((error > 1e-5) & (error < 1e-3)).any())


def test_a_prediction_is_refuted_by_an_order() -> None:
    orders = all_orders(5)
    for found, predicted in itertools.permutations(GROUPS, 2):
        commutes = members(found, orders, FORK)
        assert_predicted({"layer": found}, "layer", commutes, orders, FORK)
        with pytest.raises(Mismatch, match="taking the tokens in the order"):
            assert_predicted({"layer": predicted}, "layer", commutes, orders, FORK)


@pytest.mark.parametrize("symmetries", [None, [], {}, {"layer": "?"}, {"layer": 3}, {"layer": ["all"]}, {1: "all"}])
def test_what_is_no_prediction_is_named(symmetries: Any) -> None:
    orders = all_orders(3)
    with pytest.raises(Mismatch, match="SYMMETRIES"):
        assert_predicted(symmetries, "layer", members("all", orders, None), orders)


def test_automorphisms_are_no_answer_where_there_is_no_graph() -> None:
    orders = all_orders(3)
    with pytest.raises(Mismatch, match="there is no A here"):
        assert_predicted({"layer": "automorphisms"}, "layer", members("none", orders, None), orders)


def test_one_word_for_every_layer_is_no_prediction() -> None:
    assert_not_one_for_all({"dense": "none", "attention": "all"}, ("dense", "attention"))
    with pytest.raises(Mismatch, match="'none' for all"):
        assert_not_one_for_all({"dense": "none", "attention": "none"}, ("dense", "attention"))
