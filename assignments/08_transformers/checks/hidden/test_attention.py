"""Hidden checks of part 2: what one comparison on a random batch does not show.

Extreme scores, half precision, gradients, what a call leaves behind, who sees whom. Oracles and bounds as in the
visible checks; what has no bound of its own is compared as `testing.gradients` and `testing.modules` say.
"""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from autograder.testing.attention import assert_best_key_wins, assert_masked, attend
from autograder.testing.causality import assert_blind, assert_no_gradient_from_hidden
from autograder.testing.gradients import assert_arrives, assert_gradients, vjp
from autograder.testing.modules import assert_like, load_alike
from autograder.testing.numbers import assert_close, assert_same, attention_bounds, parts_of, rounding, softmax_bound
from autograder.testing.purity import assert_pure
from autograder.testing.stability import all_scores_low
from autograder.testing.symmetry import assert_invariant

HALF = (torch.float16, torch.bfloat16)
NAMES = ("q", "k", "v")


def in_float64(*tensors):
    """Floating-point tensors in float64, anything else as it is."""
    return tuple(
        tensor.double() if isinstance(tensor, torch.Tensor) and tensor.is_floating_point() else tensor
        for tensor in tensors
    )


@number("2.1c")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 2.1")
def test_softmax_of_rows_far_apart(student, reference, cases):
    """Each row has a largest score of its own; what lies far below it gets 0, minus infinity included

    Stays beside 2.3g, which fails with it where attention calls this softmax; whose attention does not learns it here.
    """
    offsets = torch.tensor([[0.0], [60.0], [-60.0]])
    spread = torch.tensor([0.0, -200.0, -10.0, 95.0, -float("inf")])
    for x in (cases.tensor(3, 5) + offsets, cases.tensor(3, 5) + spread):
        got = student.softmax(x, 1)
        assert_close(got, reference.softmax(x.double(), 1), "softmax", within=softmax_bound(x), dtype=x.dtype)
    for dtype in HALF:
        x = cases.tensor(3, 5, dtype=dtype, scale=0.3)
        got = student.softmax(x, 1)
        assert_close(got, reference.softmax(x.double(), 1), "softmax", within=softmax_bound(x), dtype=dtype)


@number("2.1d")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 2.1")
def test_softmax_gradient_and_argument(student, reference, cases):
    """Softmax leaves its argument alone and lets gradients through"""
    x, cotangent = cases.tensor(3, 5), cases.tensor(3, 5)
    seen = student.observe(student.softmax, x, 1)
    assert_close(seen.value, reference.softmax(x.double(), 1), "softmax", within=softmax_bound(x), dtype=x.dtype)
    assert_pure(seen, (x, 1))
    got = student.vjp(student.softmax, (x, 1), (cotangent,))
    expected = vjp(reference.softmax, (x.double(), 1), (cotangent.double(),))
    own = vjp(reference.softmax, (x, 1), (cotangent,))
    assert_gradients({"x": got.args[0]}, {"x": expected.args[0]}, {"x": own.args[0]})


@number("2.2b")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 2.2")
def test_loops_keep_dtype_and_gradient(student, reference, cases):
    """Loops change nothing about a function: gradients flow, float64 stays float64, arguments stay as they were"""
    for q, k, v in cases.attention(torch.float64, most_axes=2, least_keys=7):
        seen = student.observe(student.attention_with_loops, q, k, v)
        within, _ = attention_bounds(q, k, v)
        assert_close(seen.value, reference.attention_with_loops(q, k, v), "out", within=within, dtype=q.dtype)
        assert_pure(seen, (q, k, v))
        cotangent = cases.tensor(*q.shape[:-1], v.shape[-1], dtype=torch.float64)
        got = student.vjp(student.attention_with_loops, (q, k, v), (cotangent,))
        expected = vjp(reference.attention_with_loops, (q, k, v), (cotangent,))
        oracle = dict(zip(NAMES, expected.args, strict=True))
        assert_gradients(dict(zip(NAMES, got.args, strict=True)), oracle, oracle)


@number("2.3f")
@weight(1)
@visibility("hidden")
@pytest.mark.read("handout 2.3")
def test_query_that_may_attend_to_nothing(student, cases):
    """A query that may attend to nothing gets output 0 and weights 0, and its gradients are 0 and finite"""
    assert_best_key_wins(student.scaled_dot_product_attention, cases)
    for q, k, v in cases.attention(least_keys=2):
        mask = cases.mask(*q.shape[:-1], k.shape[-2])
        mask[..., 0, :] = False
        assert_masked(student.scaled_dot_product_attention, q, k, v, mask)
        if q.shape[-2] == 1:  # nothing reaches this output: a gradient may just as well be missing
            continue
        cotangent = cases.tensor(*q.shape[:-1], v.shape[-1])
        pulled = student.vjp(student.scaled_dot_product_attention, (q, k, v, mask), (cotangent, None))
        for gradient, name in zip(pulled.args, NAMES, strict=False):
            assert_arrives(gradient, name)
        empty = pulled.args[0][..., 0, :]
        assert_close(empty, torch.zeros(empty.shape), "gradient by the query that sees nothing", within=1e-6)


@number("2.3g")
@weight(1)
@visibility("hidden")
@pytest.mark.read("handout 2.3")
def test_attention_with_extreme_scores(student, cases):
    """Scores of 10,000 and half precision are no danger: the best key wins, and nothing overflows"""
    attention = student.scaled_dot_product_attention
    for dtype, score in [(torch.float32, 90.0), (torch.float32, 1e4), (torch.float16, 1e4), (torch.bfloat16, 1e4)]:
        assert_best_key_wins(attention, cases, score=score, dtype=dtype)
    q, k, best = all_scores_low(cases, n_q=5, n_k=7, d=11, score=-3e4, step=500.0)
    v, mask = cases.tensor(7, 13), cases.mask(5, 7)
    mask[:, best] = True
    out, weights = attend(attention, q, k, v, mask)
    within = 4 * rounding(q.dtype)
    assert_close(weights, torch.eye(7)[best].expand(5, 7), "weights", within=within, dtype=q.dtype)
    assert_close(out, v[best].expand(5, 13), "out", within=within * float(v.abs().max()), dtype=q.dtype)
    for dtype in HALF:
        q, k, v = (cases.tensor(2, n, d, dtype=dtype, scale=0.5) for n, d in ((5, 11), (7, 11), (7, 13)))
        wide_out, wide_weights = attend(attention, q.float(), k.float(), v.float())
        out, weights = attend(attention, q, k, v)
        within_out, within_weights = attention_bounds(q, k, v)
        assert_close(weights, wide_weights, "weights", within=within_weights, dtype=dtype)
        assert_close(out, wide_out, "out", within=within_out, dtype=dtype)


@number("2.4a")
@weight(1)
@visibility("hidden")
@pytest.mark.read("handout 2.4")
def test_past_does_not_see_the_future(student, reference, cases):
    """Under a causal mask the future can change as it likes: no earlier output moves, by value or by gradient"""
    attention = student.scaled_dot_product_attention
    assert_best_key_wins(attention, cases)
    n_q, n_k = 5, 7
    allowed = reference.causal_mask(n_q, n_k)
    q, k, v = cases.tensor(2, n_q, 11), cases.tensor(2, n_k, 11), cases.tensor(2, n_k, 13)
    out, _ = attend(attention, q, k, v, allowed)
    within, _ = attention_bounds(q, k, v)
    tempting = 40 * 11**0.5 * q[:, :1] / q[:, :1].square().sum(-1, keepdim=True)  # a score of 40 for the first query
    for first in (6, 4, 3):
        future = torch.arange(n_k) >= first
        other_k = torch.where(future[:, None], tempting + cases.tensor(2, n_k, 11), k)
        other_v = torch.where(future[:, None], cases.tensor(2, n_k, 13), v)
        after, _ = attend(attention, q, other_k, other_v, allowed)
        assert_blind(out, after, allowed, future, "out", within=2 * within)
    for query in (0, 2):
        cotangent = torch.zeros(2, n_q, 13, dtype=q.dtype)
        cotangent[:, query] = cases.tensor(2, 13)
        pulled = student.vjp(attention, (q, k, v, allowed), (cotangent, None))
        for index in (1, 2):
            assert_no_gradient_from_hidden(pulled.args[index], allowed, query, NAMES[index])


@number("2.3h")
@weight(1)
@visibility("hidden")
@pytest.mark.read("handout 2.3")
def test_gradients_of_attention(student, reference, cases):
    """Queries, keys and values all learn: gradients flow through outputs and weights, and are the formula's"""
    for q, k, v in cases.attention(least_keys=2):
        cotangents = cases.tensor(*q.shape[:-1], v.shape[-1]), cases.tensor(*q.shape[:-1], k.shape[-2])
        for args in ((q, k, v), (q, k, v, cases.mask(*q.shape[:-1], k.shape[-2]))):
            got = student.vjp(student.scaled_dot_product_attention, args, cotangents)
            expected = vjp(reference.scaled_dot_product_attention, in_float64(*args), in_float64(*cotangents))
            own = vjp(reference.scaled_dot_product_attention, args, cotangents)
            assert_gradients(*(dict(zip(NAMES, pulled.args, strict=False)) for pulled in (got, expected, own)))


@number("2.3i")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 2.3")
def test_attention_leaves_its_arguments_alone(student, cases):
    """Attention leaves queries, keys, values and mask as they were, and draws no random numbers"""
    attention = student.scaled_dot_product_attention
    for q, k, v in cases.attention(least_keys=3):
        for args in ((q, k, v), (q, k, v, cases.mask(*q.shape[:-1], k.shape[-2]))):
            seen = student.observe(attention, *args)
            parts_of(seen.value, "out", "weights")
            assert_pure(seen, args)
    assert_best_key_wins(attention, cases)


@number("2.4d")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 2.4")
def test_masks_combine(student, reference, cases):
    """A padding mask and a causal mask combine by `&`, also where every sequence is shorter than the batch is wide"""
    for lengths, n in [([2, 0, 4], 6), ([3], 5)]:
        given = torch.tensor(lengths, dtype=torch.int32)
        padding, causal = student.padding_mask(given, n), student.causal_mask(n, n)
        assert_same(padding, reference.padding_mask(given, n), "padding mask")
        assert_same(causal, reference.causal_mask(n, n), "causal mask")
        assert_same(padding & causal, reference.padding_mask(given, n) & reference.causal_mask(n, n), "both masks")


@number("2.5d")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 2.5")
def test_heads_are_independent(student, reference, cases):
    """Every head has weights of its own, which the queries of another head cannot change"""
    alike = load_alike(student.MultiHeadAttention, reference.MultiHeadAttention, cases, 12, 3)
    x = cases.tensor(2, 5, 12)
    _, weights = attend(alike.module, x.to(alike.dtype))
    assert_like(alike, weights, 1, "weights", x)
    changed = alike.oracle.state_dict()["q_proj.weight"]
    changed[4:8] = cases.tensor(4, 12)
    alike.load({"q_proj.weight": changed})
    _, after = attend(alike.module, x.to(alike.dtype))
    others, under = torch.tensor([0, 2]), "changing only the queries of head 1"
    assert_invariant(weights[:, others], after[:, others], "weights of heads 0 and 2", under=under, within=1e-5)
    assert_like(alike, after, 1, "weights", x)
    mask, context = cases.mask(5, 5), cases.tensor(2, 7, 12)
    _, masked = parts_of(alike.module(x.to(alike.dtype), mask=mask), "out", "weights")
    assert_like(alike, masked, 1, "weights", x, mask=mask)
    _, crossing = attend(alike.module, x.to(alike.dtype), context.to(alike.dtype))
    assert_like(alike, crossing, 1, "weights", x, context)


@number("2.5e")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 2.5")
def test_same_parameters_at_any_length(student, reference, cases):
    """The same parameters work for any number of tokens, one included, and for any number of leading axes"""
    alike = load_alike(student.MultiHeadAttention, reference.MultiHeadAttention, cases, 12, 3)
    for shape in [(2, 1), (2, 5), (1, 9), (1, 1), (6,), (2, 7, 5)]:
        x = cases.tensor(*shape, 12)
        out, _ = attend(alike.module, x.to(alike.dtype))
        assert_like(alike, out, 0, "out", x)


@number("2.5f")
@weight(1)
@visibility("hidden")
@pytest.mark.read("handout 2.5")
def test_every_projection_learns(student, reference, cases):
    """Every projection learns: gradients reach all parameters and both sequences"""
    alike = load_alike(student.MultiHeadAttention, reference.MultiHeadAttention, cases, 12, 3)
    x, context = cases.tensor(2, 5, 12), cases.tensor(2, 7, 12)
    cotangent = cases.tensor(2, 5, 12)
    got = student.vjp(alike.module, (x.to(alike.dtype), context.to(alike.dtype)), (cotangent.to(alike.dtype), None))
    expected = vjp(alike.oracle, in_float64(x, context), (cotangent.double(), None))
    own = vjp(alike.plain, (x, context), (cotangent, None))
    assert_gradients(
        *({**dict(zip(("x", "context"), each.args, strict=True)), **each.parameters} for each in (got, expected, own))
    )


@number("2.6c")
@weight(0)
@visibility("hidden")
@pytest.mark.read("handout 2.6")
def test_step_by_step_is_all_at_once(student, reference, cases):
    """Bonus: token by token with a cache gives what causal attention gives for all tokens at once"""
    for heads, kwargs in ((3, {}), (3, {"rotary": True}), (6, {"kv_heads": 2})):
        alike = load_alike(student.MultiHeadAttention, reference.MultiHeadAttention, cases, 12, heads, **kwargs)
        x, cache = cases.tensor(2, 5, 12), None
        causal = torch.ones(5, 5, dtype=torch.bool).tril()
        for t in range(5):
            out, cache = parts_of(alike.module.step(x[:, t : t + 1].to(alike.dtype), cache), "out", "cache")
            assert_like(alike, out, 0, f"out at step {t}", x, mask=causal, take=(slice(None), slice(t, t + 1)))
