"""Visible checks of part 2: what the formulas give, one sentence of the lecture each.

Oracles are the reference in float64. Bounds are rounding bounds: `softmax_bound` and `attention_bounds` for
functions, and four times what the reference errs in float32 (or 1e-5 of the largest value) behind the projections of
a module.
"""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, weight

from autograder.testing.attention import assert_best_key_wins, assert_masked, attend
from autograder.testing.exceptions import must_raise
from autograder.testing.modules import assert_like, load_alike
from autograder.testing.numbers import FLOOR, assert_close, assert_same, attention_bounds, parts_of, softmax_bound
from autograder.testing.symmetry import assert_equivariant, assert_invariant


@number("2.1a")
@weight(1)
@pytest.mark.read("handout 2.1")
def test_softmax_is_the_formula(student, reference, cases):
    """Softmax is exp(x) divided by the sum of exp(x) along the axis that is named"""
    for shape, dim in [((3,), 0), ((2, 5), 1), ((2, 5), 0), ((2, 3, 5), 1), ((2, 3, 5), -1), ((2, 3, 5), -3)]:
        x = cases.tensor(*shape)
        got = student.softmax(x, dim)
        assert_close(got, reference.softmax(x.double(), dim), "softmax", within=softmax_bound(x), dtype=x.dtype)
    for shape, dim in [((4, 7), 0), ((1, 6), 0), ((2, 1, 3, 5), 2), ((300, 2), 0)]:
        x = cases.tensor(*shape, dtype=torch.float64)
        got = student.softmax(x, dim=dim)
        assert_close(got, reference.softmax(x, dim), "softmax", within=1e-7, dtype=x.dtype)


@number("2.1b")
@weight(0.5)
@pytest.mark.read("handout 2.1")
def test_softmax_of_large_scores(student, reference, cases):
    """Adding a number to every score changes nothing, so large scores are no danger

    Stays beside 2.1c and 2.3g, which fail with it: they are hidden, and this one shows a student the numbers at once.
    """
    for shift in (100.0, -200.0, 10_000.0):
        x = cases.tensor(3, 5) + shift
        got = student.softmax(x, 1)
        within = max(FLOOR, softmax_bound(x))
        assert_close(got, reference.softmax(x.double(), 1), "softmax", within=within, dtype=x.dtype)


@number("2.2a")
@weight(1.5)
@pytest.mark.read("handout 2.2")
def test_attention_with_loops(student, reference, cases):
    """Each output is an average of the values, weighted by how well its query matches each key"""
    for q, k, v in cases.attention(most_axes=2):
        got = student.attention_with_loops(q, k, v)
        expected = reference.attention_with_loops(q.double(), k.double(), v.double())
        within, _ = attention_bounds(q, k, v)
        assert_close(got, expected, "out", within=within, dtype=q.dtype)


@number("2.3a")
@weight(1.5)
@pytest.mark.read("handout 2.3")
def test_attention_is_the_formula(student, reference, cases):
    """Attention is softmax(Q K^T / sqrt(d_k)) V, for any number of leading axes"""
    float64 = cases.attention(torch.float64, most_axes=2, least_keys=7)
    for q, k, v in (*cases.attention(), *float64):
        out, weights = attend(student.scaled_dot_product_attention, q, k, v)
        expected_out, expected_weights = reference.scaled_dot_product_attention(q.double(), k.double(), v.double())
        within_out, within_weights = attention_bounds(q, k, v)
        assert_close(weights, expected_weights, "weights", within=within_weights, dtype=q.dtype)
        assert_close(out, expected_out, "out", within=within_out, dtype=q.dtype)


@number("2.3b")
@weight(1)
@pytest.mark.read("handout 2.3")
def test_mask_says_who_may_attend_to_whom(student, cases):
    """True in the mask means that the query may attend to the key; the weights of such keys sum to 1

    Stays beside the hidden checks that use masks, which fail with it: this one shows a student the numbers at once.
    """
    assert_best_key_wins(student.scaled_dot_product_attention, cases)
    for q, k, v in cases.attention(least_keys=2):
        mask = cases.mask(*q.shape[:-1], k.shape[-2])
        assert_masked(student.scaled_dot_product_attention, q, k, v, mask)
    q, k, v = cases.tensor(2, 3, 5, 11), cases.tensor(2, 3, 7, 11), cases.tensor(2, 3, 7, 13)
    for shape in ((5, 7), (2, 1, 1, 7), (2, 1, 5, 7), (3, 1, 7), (1, 3, 5, 7)):
        assert_masked(student.scaled_dot_product_attention, q, k, v, cases.mask(*shape))


@number("2.3c")
@weight(0.5)
@pytest.mark.read("handout 2.3")
def test_masked_key_might_as_well_not_be_there(student, cases):
    """Masking a key for all queries is the same as leaving it out, and a mask has as few axes as it needs"""
    assert_best_key_wins(student.scaled_dot_product_attention, cases)
    for q, k, v in cases.attention(least_keys=3):
        seen = cases.mask(k.shape[-2])
        without, _ = attend(student.scaled_dot_product_attention, q, k[..., seen, :], v[..., seen, :])
        out, weights = attend(student.scaled_dot_product_attention, q, k, v, seen)
        within_out, within_weights = (2 * bound for bound in attention_bounds(q, k, v))
        assert_invariant(without, out, "out", under="masking keys in place of leaving them out", within=within_out)
        nothing = torch.zeros(*q.shape[:-1], int((~seen).sum()))
        assert_close(weights[..., ~seen], nothing, "weights of masked keys", within=within_weights)


@number("2.3d")
@weight(0.25)
@pytest.mark.read("handout 2.3")
def test_same_vector_added_to_every_key(student, cases):
    """Adding the same vector to every key changes nothing: only differences of scores count"""
    assert_best_key_wins(student.scaled_dot_product_attention, cases)
    for q, k, v in cases.attention(least_keys=3):
        out, weights = attend(student.scaled_dot_product_attention, q, k, v)
        moved = k + 12.0 * q[..., :1, :]  # scores rise by some tens for some queries and fall for others
        out_after, weights_after = attend(student.scaled_dot_product_attention, q, moved, v)
        within_out, within_weights = (2 * bound for bound in attention_bounds(q, moved, v))
        under = "adding the same vector to every key"
        assert_invariant(weights, weights_after, "weights", under=under, within=within_weights)
        assert_invariant(out, out_after, "out", under=under, within=within_out)


@number("2.3e")
@weight(0.25)
@pytest.mark.read("handout 2.3")
def test_keys_are_a_set_and_queries_a_list(student, cases):
    """Permuting keys together with their values changes nothing; permuting queries permutes the outputs

    Stays though other checks catch all that it catches: it is the lecture's sentence on why positions are needed, and
    its failure says so in those words.
    """
    attention = student.scaled_dot_product_attention
    assert_best_key_wins(attention, cases)
    for q, k, v in cases.attention(least_keys=3):
        out, weights = attend(attention, q, k, v)
        within_out, within_weights = (2 * bound for bound in attention_bounds(q, k, v))
        order = cases.permutation(k.shape[-2])
        moved_out, moved_weights = attend(attention, q, k.index_select(-2, order), v.index_select(-2, order))
        under = "taking keys and values in another order"
        assert_invariant(out, moved_out, "out", under=under, within=within_out)
        assert_equivariant(weights, moved_weights, order, -1, "weights", under=under, within=within_weights)
        order = cases.permutation(q.shape[-2])
        moved_out, _ = attend(attention, q.index_select(-2, order), k, v)
        under = "taking the queries in another order"
        assert_equivariant(out, moved_out, order, -2, "out", under=under, within=within_out)


@number("2.4b")
@weight(1)
@pytest.mark.read("handout 2.4")
def test_causal_mask(student, reference, cases):
    """A query may attend to the keys that are not in its future; the last query is aligned with the last key"""
    for n_q, n_k in [(2, 2), (2, 3), (1, 4), (5, 7), (6, 6), (5, 3), (4, 1), (1, 1), (140, 300), (300, 260)]:
        assert_same(student.causal_mask(n_q, n_k), reference.causal_mask(n_q, n_k), "mask")


@number("2.4c")
@weight(1)
@pytest.mark.read("handout 2.4")
def test_padding_mask(student, reference, cases):
    """Padding is nothing to attend to: True for the first `length` keys of each sequence, whoever asks"""
    for lengths, n in [([1, 3], 3), ([4, 2, 5], 5), ([7], 7), ([1, 1, 1, 1], 1), ([130, 257, 300], 300)]:
        given = torch.tensor(lengths, dtype=torch.int64)
        assert_same(student.padding_mask(given, n), reference.padding_mask(given, n), "mask")


@number("2.5a")
@weight(2)
@pytest.mark.read("handout 2.5")
def test_multi_head_attention_is_the_formula(student, reference, cases):
    """Each head attends in a subspace of its own; their outputs, side by side, go through one last projection"""
    for d_model, heads in [(3, 1), (8, 2), (12, 3)]:
        alike = load_alike(student.MultiHeadAttention, reference.MultiHeadAttention, cases, d_model, heads)
        x = cases.tensor(2, 5, d_model)
        out, _ = attend(alike.module, x.to(alike.dtype))
        assert_like(alike, out, 0, "out", x)


@number("2.5b")
@weight(1)
@pytest.mark.read("handout 2.5")
def test_cross_attention(student, reference, cases):
    """In cross attention queries come from one sequence, keys and values both from the other

    Stays beside 2.5f, which fails with it by gradients: this one shows a student the numbers at once.
    """
    alike = load_alike(student.MultiHeadAttention, reference.MultiHeadAttention, cases, 12, 3)
    for n_q, n_k in [(5, 7), (7, 5), (1, 4), (5, 5)]:
        x, context = cases.tensor(2, n_q, 12), cases.tensor(2, n_k, 12)
        out, _ = attend(alike.module, x.to(alike.dtype), context.to(alike.dtype))
        assert_like(alike, out, 0, "out", x, context)


@number("2.5c")
@weight(1)
@pytest.mark.read("handout 2.5")
@pytest.mark.parametrize("given", ["one sequence", "a batch", "a context", "few axes", "two leading axes", "loud keys"])
def test_all_heads_share_the_mask(student, reference, cases, given):
    """Padding and causality together: every head obeys the same mask, and nothing to attend to leaves the last bias"""
    alike = load_alike(student.MultiHeadAttention, reference.MultiHeadAttention, cases, 12, 3)
    n, context = 5, ()
    leading = {"one sequence": (), "two leading axes": (2, 4)}.get(given, (3,))
    causal = torch.ones(n, n, dtype=torch.bool).tril()
    padding = torch.arange(n) < torch.tensor([2, 5, 4])[:, None, None]
    late = torch.arange(n) >= torch.tensor([2, 0, 1])[:, None, None]
    masks = (causal, padding, padding & causal, *((late & causal,) if given == "a batch" else ()))
    if given == "one sequence":
        masks = (causal, cases.mask(n, n), cases.mask(n))
    elif given == "a context":
        context = (cases.tensor(3, 7, 12),)
        masks = (cases.mask(n, 7), cases.mask(3, 1, 7), cases.mask(3, n, 7), cases.mask(7))
    elif given == "few axes":
        masks = (cases.mask(n), cases.mask(1, n), cases.mask(1, 1, n), cases.mask(n, n))
    elif given == "two leading axes":
        masks = (causal, cases.mask(4, 1, n), cases.mask(2, 4, n, n), cases.mask(2, 1, 1, n), cases.mask(4, n, n))
    for mask in masks:
        x = cases.tensor(*leading, n, 12)
        if given == "loud keys":
            x[:, 1] *= 200.0
            mask = (mask & (torch.arange(n) != 1)).expand(3, n, n).clone()
            mask[:, 1] = mask[:, 0] = torch.arange(n) == 0  # what the loud query gets is exact
        out, _ = parts_of(alike.module(*(each.to(alike.dtype) for each in (x, *context)), mask=mask), "out", "weights")
        assert_like(alike, out, 0, "out", x, *context, mask=mask)


@number("2.6a")
@weight(0)
@pytest.mark.read("handout 2.6")
def test_grouped_heads(student, reference, cases):
    """Bonus: with fewer key/value heads, query head h uses key/value head h // (heads // kv_heads)"""
    for heads, kv_heads in [(3, 1), (6, 2), (6, 3)]:
        d_model = 4 * heads
        alike = load_alike(student.MultiHeadAttention, reference.MultiHeadAttention, cases, d_model, heads, kv_heads)
        x = cases.tensor(5, 7, d_model)
        out, _ = attend(alike.module, x.to(alike.dtype))
        assert_like(alike, out, 0, "out", x)


@number("2.6b")
@weight(0)
@pytest.mark.read("handout 2.6")
def test_rotary_attention(student, reference, cases):
    """Bonus: rotary attention turns queries and keys, head by head, by the positions that are given"""
    alike = load_alike(student.MultiHeadAttention, reference.MultiHeadAttention, cases, 12, 3, rotary=True)
    batched = torch.stack([cases.integers(5, low=-9, high=99) for _ in range(2)]).unsqueeze(1)
    for positions in (None, torch.tensor([3, 0, 7, 7, 100]), batched):
        x = cases.tensor(2, 5, 12)
        out, _ = parts_of(alike.module(x.to(alike.dtype), positions=positions), "out", "weights")
        assert_like(alike, out, 0, "out", x, positions=positions)
    context = cases.tensor(2, 7, 12).to(alike.dtype)
    why = "rotary attention has no positions for a context"
    must_raise(ValueError, alike.module, x.to(alike.dtype), context, because=why)
    must_raise(ValueError, _attend_with_odd_heads, student, cases, because="heads of width 3 have no pairs to turn")


def _attend_with_odd_heads(student, cases):
    module = student.MultiHeadAttention(9, 3, rotary=True)
    dtype = module.state_dict()["q_proj.weight"].dtype
    return module(cases.tensor(2, 5, 9).to(dtype))
