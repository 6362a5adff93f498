"""The four layers of the lecture as one operator: a student's `aggregate` fed with a student's weights.

Each maker below gives an `Operator`: it is called on tokens, and it knows its textbook layer, who listens to whom, and
how much rounding its numbers may show. Parameters are drawn here. `assert_is_layer` compares with the textbook;
`assert_works` anchors a check of a property, and asks no scale of attention, so that a wrong scale costs its own check
and not those. The student's module is any object with `aggregate` and the four makers of weights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from autograder.testing.cases import Cases
from autograder.testing.mismatch import Mismatch, compared, places
from autograder.testing.numbers import (
    assert_close,
    assert_finite,
    assert_shape,
    assert_tensor,
    attention_bounds,
    rounding,
)
from autograder.testing.stability import one_clear_winner
from support import layers

Layer = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Operator:
    """A layer made of the student's own functions.

    Attributes:
        aggregate: the student's.
        weights: tokens (..., n, d_in) -> the student's weights for them (..., heads, n, n).
        values: (heads, d_in, d_out).
        layer: the textbook's layer, tokens -> (..., n, d_out), in float64.
        within: tokens -> what the output may differ from the layer's by rounding.
        sees: (n, n) boolean, True where output i depends on token j.
        from_data: whether the tokens make the weights.
    """

    aggregate: Callable[..., Any]
    weights: Layer
    values: Tensor
    layer: Layer
    within: Callable[[Tensor], float]
    sees: Tensor
    from_data: bool = False

    def __call__(self, x: Tensor) -> Any:
        return self.aggregate(x, self.weights(x), self.values)


# ------------------------------------------------------------------ what is asserted


def assert_is_layer(operator: Operator, x: Tensor) -> Tensor:
    """The operator gives what the textbook's layer gives; it is returned."""
    got = operator(x)
    assert_close(got, operator.layer(x.double()), "out", within=operator.within(x), dtype=x.dtype)
    return got


def assert_works(operator: Operator, x: Tensor, student: Any, cases: Cases) -> Tensor:
    """The operator is a number's worth: what it gives for `x` is returned, and is the layer's.

    Of attention it is asked that the best match takes all, and that the output is what its own weights say.
    """
    if not operator.from_data:
        return assert_is_layer(operator, x)
    assert_best_match_takes_all(student.attention_weights, cases)
    weights = operator.weights(x)
    got = operator.aggregate(x, weights, operator.values)
    expected = layers.summed_over_heads(x.double(), weights.double(), operator.values.double())
    within = aggregate_bound(x, weights, operator.values)
    assert_close(got, expected, "out", within=within, dtype=x.dtype)
    return got


def assert_best_match_takes_all(attention_weights: Callable[..., Any], cases: Cases) -> None:
    """Where one key matches far better than all others its weight is 1, whatever the scale of the scores.

    Where all match equally well they share.
    """
    heads, n, d = 2, 5, 7
    q, k, winners = one_clear_winner(cases, heads, n_q=n, n_k=n, d=d, score=60.0)
    expected = torch.nn.functional.one_hot(winners, n).double()
    assert_close(attention_weights(q, k), expected, "weights", within=4 * rounding(q.dtype), dtype=q.dtype)
    nowhere, shared = torch.zeros_like(q), torch.full((heads, n, n), 1 / n)
    _, within = attention_bounds(nowhere, k, k)
    assert_close(attention_weights(nowhere, k), shared, "weights", within=within, dtype=q.dtype)


def assert_listens(out: Tensor, sees: Tensor, what: str = "out") -> None:
    """An output moves exactly when a token does that it listens to.

    Args:
        out: (1 + n, n, d): outputs for some tokens, and for the same with token 0, 1, .. n - 1 changed.
        sees: (n, n) boolean, True where output i listens to token j.
        what: the name of the outputs.

    Raises:
        Mismatch: naming an output, the tokens that move it and those that should.
    """
    rounded = 1e-5 * float(out.abs().max())
    moved = ((out[1:] - out[0]).abs().amax(dim=-1) > rounded).T  # (output, token)
    if not torch.equal(moved, sees):
        i, j = places(moved != sees)[0]
        expected, got = (_listed(row) for row in (sees[i], moved[i]))
        hint = "an output moves with a token that it must not see" if moved[i, j] else "a token has no influence"
        raise Mismatch(f"tokens that move {what}[{i}]", expected, got, hint)


def aggregate_bound(x: Tensor, weights: Tensor, values: Tensor) -> float:
    """What W_h x V_h, summed over heads, may err: eps x (2 + heads + n + d_in) x the sum of |W_h||x||V_h|.

    That many roundings meet a product at most, in whatever order the three are multiplied and added.
    """
    sizes = layers.summed_over_heads(x.double().abs(), weights.double().abs(), values.double().abs())
    return _roundings(x, len(values)) * float(sizes.max())


def _roundings(x: Tensor, heads: int) -> float:
    n, d_in = x.shape[-2:]
    return rounding(x.dtype) * (2 + heads + n + d_in)


def _listed(row: Tensor) -> str:
    return ", ".join(str(place) for (place,) in places(row)) or "none"


def weights_of(got: Any, expected: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """What a maker of the student's gave, once it is a finite tensor of this shape, in `dtype`."""
    compared(got, None, "weights")
    weights = assert_finite(assert_tensor(got, "weights"), "weights")
    assert_shape(weights, expected, "weights")
    return weights.to(dtype)


# ------------------------------------------------------------------ the four layers


def dense(student: Any, cases: Cases, n: int, d_in: int, d_out: int) -> Operator:
    """A dense layer on n * d_in numbers: one head for each pair of an input and an output channel."""
    matrix = cases.tensor(n, d_out, n, d_in, scale=(n * d_in) ** -0.5)
    pairs = [(o, c) for o in range(d_out) for c in range(d_in)]
    given = [weights_of(student.mlp_weights(matrix[:, o, :, c]), (1, n, n), matrix.dtype) for o, c in pairs]
    values = torch.zeros(len(pairs), d_in, d_out, dtype=matrix.dtype)
    for head, (o, c) in enumerate(pairs):
        values[head, c, o] = 1.0
    everyone = torch.ones(n, n, dtype=torch.bool)
    return _fixed(student, torch.cat(given), values, lambda x, m: layers.dense(x, m), matrix, everyone)


def convolution(student: Any, cases: Cases, n: int, size: int, padding: str, d_in: int, d_out: int) -> Operator:
    """A convolution along n tokens, nn.Conv1d's kernel as the values."""
    kernel = cases.tensor(d_out, d_in, size, scale=(size * d_in) ** -0.5)
    given = weights_of(student.conv_weights(n, size, padding), (size, n, n), kernel.dtype)
    apart = (torch.arange(n)[:, None] - torch.arange(n)).abs()
    if padding == "circular":
        apart = torch.minimum(apart, n - apart)

    def layer(x: Tensor, kernel: Tensor) -> Tensor:
        return layers.convolution(x, kernel, padding)

    return _fixed(student, given, kernel.permute(2, 1, 0), layer, kernel, apart <= size // 2)


def graph(student: Any, cases: Cases, A: Tensor, self_loops: bool, norm: str, d_in: int, d_out: int) -> Operator:
    """A layer on the graph A: the mean of the senders ("row"), or Kipf and Welling's ("sym")."""
    n = len(A)
    values = cases.tensor(d_in, d_out, scale=d_in**-0.5)
    given = weights_of(student.graph_weights(A, self_loops, norm), (1, n, n), values.dtype)
    textbook = layers.mean_of_senders if norm == "row" else layers.graph_convolution

    def layer(x: Tensor, values: Tensor) -> Tensor:
        return textbook(x, A, values, self_loops)

    sees = A.bool() | (torch.eye(n, dtype=torch.bool) & self_loops)
    return _fixed(student, given, values.unsqueeze(0), layer, values, sees)


def attention(
    student: Any,
    cases: Cases,
    n: int,
    heads: int,
    d_in: int,
    d_out: int,
    *,
    turn: Callable[[Tensor], Tensor] = lambda projected: projected,
    mask: Tensor | None = None,
) -> Operator:
    """Multi-head self-attention: values V_h O_h, weights from queries and keys of the tokens.

    Args:
        student: the module.
        cases: draws the four projections.
        n: number of tokens.
        heads: number of heads, each with keys of width 4 and values of width 3.
        d_in: width of the tokens.
        d_out: width of the outputs.
        turn: applied to queries and keys (..., heads, n, 4), such as a rotation by positions.
        mask: (n, n) boolean; True means may attend. The student's weights of all others are taken out, and the rest
            made to sum to 1. With a mask or a turn `layer` is not the textbook's: use `assert_works`.
    """
    q_proj, k_proj, v_proj = (cases.tensor(d_in, heads * d, scale=d_in**-0.5) for d in (4, 4, 3))
    out_proj = cases.tensor(heads * 3, d_out, scale=(heads * 3) ** -0.5)
    values = torch.stack([v @ o for v, o in zip(v_proj.chunk(heads, 1), out_proj.chunk(heads, 0), strict=True)])

    def projected(x: Tensor) -> tuple[Tensor, Tensor]:
        def split(features: Tensor) -> Tensor:
            return features.reshape(*x.shape[:-1], heads, 4).transpose(-3, -2)

        return turn(split(x @ q_proj)), turn(split(x @ k_proj))

    def weights(x: Tensor) -> Tensor:
        q, k = projected(x)
        given = weights_of(student.attention_weights(q, k), (*q.shape[:-1], n), x.dtype)
        if mask is None:
            return given
        kept = given * mask
        return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1e-30)

    def within(x: Tensor) -> float:
        q, k = projected(x)
        found = x.unsqueeze(-3) @ values
        weighed = torch.full((heads, n, n), 1.0)
        # A weight errs by one bound, the operator by another, and the values were rounded once as a product.
        by_weights, _ = attention_bounds(q, k, found)
        return heads * by_weights + 2 * aggregate_bound(x, weighed, values)

    def layer(x: Tensor) -> Tensor:
        return layers.multi_head_attention(
            x, q_proj.double(), k_proj.double(), v_proj.double(), out_proj.double(), heads
        )

    everyone = torch.ones(n, n, dtype=torch.bool)
    return Operator(student.aggregate, weights, values, layer, within, everyone, from_data=True)


def draw_graph(cases: Cases, n: int, *, directed: bool) -> Tensor:
    """An adjacency matrix (n, n), float32, n >= 3, in which every node has a sender and not all have as many.

    A directed one has an edge without its reverse.
    """
    while True:
        drawn = (cases.uniform(n, n, low=0.0, high=1.0) < 0.5).float().fill_diagonal_(0.0)
        edges = drawn if directed else drawn.triu() + drawn.triu().T
        degrees = edges.sum(dim=1)
        one_way = not torch.equal(edges, edges.T)
        if 0 < float(degrees.min()) < float(degrees.max()) and one_way == directed:
            return edges


def _fixed(
    student: Any,
    weights: Tensor,
    values: Tensor,
    layer: Callable[[Tensor, Tensor], Tensor],
    parameters: Tensor,
    sees: Tensor,
) -> Operator:
    """An operator whose weights do not depend on the tokens, and whose layer has these parameters."""

    def within(x: Tensor) -> float:
        # Weights may be rounded twice before they meet the tokens.
        sizes = layer(x.double().abs(), parameters.double().abs())
        return (_roundings(x, len(values)) + 2 * rounding(x.dtype)) * float(sizes.max())

    return Operator(
        aggregate=student.aggregate,
        weights=lambda _x: weights,
        values=values,
        layer=lambda x: layer(x, parameters.double()),
        within=within,
        sees=sees,
    )
