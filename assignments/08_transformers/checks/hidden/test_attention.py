"""Hidden checks of part 2: what one comparison on a random batch does not show.

Extreme scores, half precision, gradients, what a call leaves behind, who sees whom. Oracles and bounds as in the
visible checks; what has no bound of its own is compared as `testing.gradients` and `testing.modules` say.
"""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from autograder.testing.attention import assert_best_key_wins, assert_masked, attend
from autograder.testing.causality import assert_blind, assert_no_gradient_from_hidden
from autograder.testing.devices import assert_keeps_device
from autograder.testing.gradients import assert_arrives, assert_gradients, vjp
from autograder.testing.modules import assert_like, load_alike
from autograder.testing.numbers import FLOOR, assert_close, assert_same, attention_bounds, parts_of, softmax_bound
from autograder.testing.purity import assert_pure
from autograder.testing.stability import all_scores_low
from autograder.testing.symmetry import assert_invariant
from support.layouts import in_each_layout, transposed

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
    low = torch.tensor([-3e4, -float("inf"), -3e4, -1e10, -float("inf")])
    for x in (cases.tensor(3, 5) + offsets, cases.tensor(3, 5) + spread, cases.tensor(3, 5) + low):
        got = student.softmax(x, 1)
        within = max(FLOOR, softmax_bound(x.clamp_min(-4e4)))
        assert_close(got, reference.softmax(x.double(), 1), "softmax", within=within, dtype=x.dtype)
    for dtype in HALF:
        x = cases.tensor(3, 5, dtype=dtype, scale=0.3)
        got = student.softmax(x, 1)
        assert_close(got, reference.softmax(x.double(), 1), "softmax", within=softmax_bound(x), dtype=dtype)
        got = student.softmax((x.double() + 24 * offsets.sign()).to(dtype), 1)  # exp(24) is beyond float16
        assert_close(got.sum(1), torch.ones(3), "sums of softmax", within=0.25, dtype=dtype)  # 24 is rounded to 1/8


@number("2.1d")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 2.1")
def test_softmax_gradient_and_argument(student, reference, cases):
    """Softmax leaves its argument alone, wherever its numbers lie, and lets gradients through"""
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        x = cases.tensor(3, 5, dtype=dtype)
        for dim in (1, 0):
            seen = student.observe(student.softmax, x, dim)
            expected = reference.softmax(x.double(), dim)
            assert_close(seen.value, expected, "softmax", within=max(FLOOR, softmax_bound(x)), dtype=dtype)
            assert_pure(seen, (x, dim))
    for (x,) in in_each_layout(cases.tensor(3, 5)):
        expected = reference.softmax(x.double(), 1)
        assert_close(student.softmax(x, 1), expected, "softmax", within=max(FLOOR, softmax_bound(x)), dtype=x.dtype)
    for dim, place in ((1, lambda x: x), (0, transposed)):
        x, cotangent = place(cases.tensor(3, 5)), place(cases.tensor(3, 5))
        got = student.vjp(student.softmax, (x, dim), (cotangent,), then=(cases.tensor(4, 2), dim))
        expected = vjp(reference.softmax, (x.double(), dim), (cotangent.double(),))
        own = vjp(reference.softmax, (x, dim), (cotangent,))
        assert_gradients({"x": got.args[0]}, {"x": expected.args[0]}, {"x": own.args[0]})
    alone = student.vjp(student.softmax, (cases.tensor(3, 1), 1), (cases.tensor(3, 1),)).args[0]
    assert_close(assert_arrives(alone, "x"), torch.zeros(3, 1), "gradient by x where there is one entry", within=FLOOR)


@number("2.2b")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 2.2")
def test_loops_keep_dtype_and_gradient(student, reference, cases):
    """Loops change nothing about a function: gradients flow, float64 stays float64, arguments stay as they were"""
    loops = student.attention_with_loops
    for dtype in (torch.float64, torch.float32):
        for q, k, v in cases.attention(dtype, most_axes=2, least_keys=7):
            seen = student.observe(loops, q, k, v)
            within, _ = attention_bounds(q, k, v)
            expected = reference.attention_with_loops(*in_float64(q, k, v))
            assert_close(seen.value, expected, "out", within=within, dtype=dtype)
            assert_pure(seen, (q, k, v))
            cotangent = transposed(cases.tensor(q.shape[0], v.shape[1], dtype=dtype))
            pulled = vjp(reference.attention_with_loops, in_float64(q, k, v), (cotangent.double(),))
            own = vjp(reference.attention_with_loops, (q, k, v), (cotangent,))
            for frozen in ((), (0,), (1, 2)):
                got = student.vjp(loops, (q, k, v), (cotangent,), frozen=frozen)
                assert_gradients(*(_named(each.args, frozen) for each in (got, pulled, own)))
    q, k, v = cases.tensor(4, 3), cases.tensor(1, 3), cases.tensor(1, 5)
    for gradient, name in zip(student.vjp(loops, (q, k, v), (cases.tensor(4, 5),)).args, NAMES, strict=True):
        assert_arrives(gradient, name)  # by q and k it is 0 where there is one key, and not missing
    for score in (-300.0, 300.0):
        q, k, _ = all_scores_low(cases, n_q=3, n_k=4, d=5, score=score, step=100.0)
        v = cases.tensor(4, 2)
        got, expected = loops(q, k, v), reference.attention_with_loops(*in_float64(q, k, v))
        assert_close(got, expected, "out", within=10 * FLOOR, dtype=q.dtype)
    for q, k, v in in_each_layout(cases.tensor(3, 4), cases.tensor(5, 4), cases.tensor(5, 2)):
        within, _ = attention_bounds(q, k, v)
        expected = reference.attention_with_loops(*in_float64(q, k, v))
        assert_close(loops(q, k, v), expected, "out", within=within, dtype=q.dtype)


def _named(gradients, frozen=()):
    """Those of q, k and v by name, apart from what needed none."""
    return {name: gradients[i] for i, name in enumerate(NAMES) if i not in frozen}


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
        mask_of_all = torch.zeros_like(mask)
        assert_masked(student.scaled_dot_product_attention, q, k, v, mask_of_all)
        assert_masked(student.scaled_dot_product_attention, q, k, v, mask_of_all[..., :1, :])
        some = torch.arange(q.shape[-2]).unsqueeze(-1) % 2 == 0  # (n_q, 1): every second query sees nothing
        assert_masked(student.scaled_dot_product_attention, q, k, v, some)
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
    within = FLOOR
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
    """Queries, keys and values all learn: gradients flow through outputs and weights, and are the formula's

    Whichever of them need gradients, whatever of the result is used, and wherever the cotangent lies in memory.
    """
    attention, oracle = student.scaled_dot_product_attention, reference.scaled_dot_product_attention
    uses = [((), slice(0, 2)), ((0,), slice(0, 1)), ((1,), slice(0, 2)), ((2,), slice(1, 2)), ((1, 2), slice(0, 2))]
    for (q, k, v), (frozen, used) in zip(cases.attention(least_keys=2), uses, strict=False):
        both = transposed(cases.tensor(*q.shape[:-1], v.shape[-1])), cases.tensor(*q.shape[:-1], k.shape[-2])
        mask = cases.mask(*q.shape[:-1], k.shape[-2])
        for args, part, fixed in (((q, k, v), slice(0, 2), ()), ((q, k, v, mask), used, frozen)):
            cotangents = tuple(each if place in range(2)[part] else None for place, each in enumerate(both))
            wide = tuple(None if each is None else each.double() for each in cotangents)
            then = tuple(each.flip(-1) for each in args)
            got = student.vjp(attention, args, cotangents, frozen=fixed, then=then)
            expected, own = vjp(oracle, in_float64(*args), wide), vjp(oracle, args, cotangents)
            left_out = (*fixed, 2) if part == slice(1, 2) else fixed  # the weights know no values
            assert_gradients(*(_named(pulled.args, left_out) for pulled in (got, expected, own)))
    q, k, v = cases.tensor(4, 3), cases.tensor(1, 3), cases.tensor(1, 5)
    for gradient, name in zip(student.vjp(attention, (q, k, v), (cases.tensor(4, 5), None)).args, NAMES, strict=True):
        assert_arrives(gradient, name)  # by q and k it is 0 where there is one key, and not missing


@number("2.3i")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 2.3")
def test_attention_leaves_its_arguments_alone(student, reference, cases):
    """Attention leaves queries, keys, values and mask as they were, wherever they lie, and draws no random numbers"""
    attention = student.scaled_dot_product_attention
    for dtype in (torch.float32, torch.float64):  # first of all: a second call with one seed changes nothing any more
        for q, k, v in cases.attention(dtype, least_keys=3):
            for args in (
                (q, k, v),
                (q, k, v, cases.mask(*q.shape[:-1], k.shape[-2])),
                (q, k, v, cases.mask(k.shape[-2])),
            ):
                seen = student.observe(attention, *args)
                parts_of(seen.value, "out", "weights")
                assert_pure(seen, args)
    for q, k, v in in_each_layout(cases.tensor(2, 3, 5, 4), cases.tensor(2, 3, 7, 4), cases.tensor(2, 3, 7, 3)):
        for mask in (transposed(cases.mask(2, 1, 5, 7)), cases.mask(5, 7).expand(2, 3, 5, 7), cases.mask(7)):
            assert_masked(attention, q, k, v, mask)
    assert_best_key_wins(attention, cases)


@number("2.3j")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 2.3")
@pytest.mark.parametrize("masked", [200.0, -200.0, 1e4, 0.0])
def test_masked_scores_may_be_louder(student, reference, cases, masked):
    """A key that is masked gets weight 0 and takes no part, however much louder or softer its score is than the others

    With masked = 0 the only key that may be attended to has a score of -1e10, below what often stands for minus
    infinity.
    """
    attention = student.scaled_dot_product_attention
    assert_best_key_wins(attention, cases)
    q, k, v = cases.tensor(5, 9), cases.tensor(7, 9), cases.tensor(7, 3)
    hidden = torch.zeros(7, dtype=torch.bool)
    q[:, 0], k[:, 0] = 3.0, 0.0  # 3 / sqrt(9): feature 0 of a key is added to its scores
    hidden[[1, 4] if masked else [0, 1, 2, 4, 5, 6]] = True
    k[hidden, 0] = masked
    if not masked:
        k[3, 0] = -1e10
    out, weights = attend(attention, q, k, v, ~hidden)
    expected_out, expected = reference.scaled_dot_product_attention(*in_float64(q, k[~hidden], v[~hidden]))
    assert_close(weights[..., hidden], torch.zeros(5, int(hidden.sum())), "weights of masked keys", within=1e-6)
    assert_close(weights[..., ~hidden], expected, "weights of the other keys", within=10 * FLOOR, dtype=q.dtype)
    assert_close(out, expected_out, "out", within=30 * FLOOR, dtype=q.dtype)


@number("2.3k")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 2.3")
def test_functions_keep_the_device(student, reference, cases):
    """What a function makes itself (places, masks, sums) is made on the device of its arguments"""
    attention = student.scaled_dot_product_attention
    assert_best_key_wins(attention, cases)
    q, k, v = cases.tensor(2, 5, 12), cases.tensor(2, 7, 12), cases.tensor(2, 7, 3)
    for mask in ((), (cases.mask(5, 7),), (cases.mask(2, 1, 7),)):
        assert_keeps_device(student, attention, q, k, v, *mask)
    assert_keeps_device(student, student.softmax, q, 1)
    assert_keeps_device(student, student.attention_with_loops, q[0], k[0], v[0])
    assert_keeps_device(student, student.padding_mask, cases.integers(3, low=0, high=5), 5)
    module = student.MultiHeadAttention(12, 3).to("meta")
    for args in ((q,), (q, k), (q, None, cases.mask(2, 5, 5)), (q, k, cases.mask(7))):
        assert_keeps_device(student, module, *args)


@number("2.4d")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 2.4")
def test_masks_combine(student, reference, cases):
    """A padding mask and a causal mask combine by `&`, also where every sequence is shorter than the batch is wide"""
    for lengths, n, dtype in [([2, 0, 4], 6, torch.int32), ([3], 5, torch.int64), ([0, 0], 4, torch.int32)]:
        given = torch.tensor(lengths, dtype=dtype)
        padding, causal = student.padding_mask(given, n), student.causal_mask(n, n)
        assert_same(padding, reference.padding_mask(given, n), "padding mask")
        assert_same(causal, reference.causal_mask(n, n), "causal mask")
        assert_same(padding & causal, reference.padding_mask(given, n) & reference.causal_mask(n, n), "both masks")
    given = torch.stack((torch.tensor([1, 4, 2]), torch.tensor([9, 9, 9])), dim=-1)[:, 0]  # every second number
    seen = student.observe(student.padding_mask, given, 5)
    assert_same(seen.value, reference.padding_mask(given, 5), "padding mask")
    assert_pure(seen, (given, 5))


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
    """The same parameters work for any number of tokens and of leading axes; without rotary, positions play no part"""
    alike = load_alike(student.MultiHeadAttention, reference.MultiHeadAttention, cases, 12, 3)
    for shape in [(2, 1), (2, 5), (1, 9), (1, 1), (6,), (2, 7, 5)]:
        x = cases.tensor(*shape, 12)
        out, _ = attend(alike.module, x.to(alike.dtype))
        assert_like(alike, out, 0, "out", x)
    x = cases.tensor(2, 5, 12)
    for positions in (torch.arange(5), torch.tensor([[[3, 0, 7, 7, 100]], [[9, 8, 2, 1, 0]]])):
        out, _ = parts_of(alike.module(x.to(alike.dtype), positions=positions), "out", "weights")
        assert_like(alike, out, 0, "out with positions, which are for rotary attention", x)
    for (x,) in in_each_layout(cases.tensor(2, 5, 12)):
        seen = student.observe(alike.module, x.to(alike.dtype), x.flip(-2).to(alike.dtype))
        out, _ = parts_of(seen.value, "out", "weights")
        assert_like(alike, out, 0, "out", x, x.flip(-2))
        assert_pure(seen, (x.to(alike.dtype), x.flip(-2).to(alike.dtype)))
    with_mask = cases.mask(2, 5, 5)
    seen = student.observe(alike.module, x.to(alike.dtype), mask=with_mask)
    assert_pure(seen, (x.to(alike.dtype),), {"mask": with_mask})
    wide = alike.module.double()
    out, _ = attend(wide, x.double())
    assert_close(out, alike.oracle(x.double())[0].detach(), "out", within=1e-5, dtype=torch.float64)


@number("2.5f")
@weight(1)
@visibility("hidden")
@pytest.mark.read("handout 2.5")
def test_every_projection_learns(student, reference, cases):
    """Every projection learns: gradients reach all parameters and both sequences"""
    alike = load_alike(student.MultiHeadAttention, reference.MultiHeadAttention, cases, 12, 3)
    for x, *rest in (
        (cases.tensor(2, 5, 12), cases.tensor(2, 7, 12)),
        (cases.tensor(2, 5, 12),),
        (cases.tensor(2, 5, 12), cases.tensor(2, 7, 12), cases.mask(2, 5, 7)),
    ):
        args, cotangent = (x, *rest), transposed(cases.tensor(2, 5, 12))
        theirs = tuple(each.to(alike.dtype) if each.is_floating_point() else each for each in args)
        got = student.vjp(alike.module, theirs, (cotangent.to(alike.dtype), None), then=theirs[:1])
        expected = vjp(alike.oracle, in_float64(*args), (cotangent.double(), None))
        own = vjp(alike.plain, args, (cotangent, None))
        names = ("x", "context")[: min(2, len(args))]
        assert_gradients(
            *({**dict(zip(names, each.args, strict=False)), **each.parameters} for each in (got, expected, own))
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
            before, token = cache, x[:, t : t + 1].to(alike.dtype)
            seen = student.observe(alike.module.step, token, before)
            out, cache = parts_of(seen.value, "out", "cache")
            assert_pure(seen, (token, before))  # another continuation may begin from the same cache
            assert_like(alike, out, 0, f"out at step {t}", x, mask=causal, take=(slice(None), slice(t, t + 1)))
