"""Hidden checks of part 5: scores that rise, rows that see nothing, and the kernel's account at lengths that matter.

A memory check gives points only where neither the allocation model nor the kernel's account fails it; what is measured
and what is weighed is compared. Oracles and bounds as in the visible checks.
"""

from dataclasses import replace

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from autograder.testing.devices import assert_keeps_device
from autograder.testing.gradients import assert_arrives, assert_gradients, vjp
from autograder.testing.memory import (
    assert_bytes_a_token,
    assert_largest_tensor,
    assert_linear_memory,
    assert_seen,
    weigh,
    within_memory,
)
from autograder.testing.mismatch import Mismatch
from autograder.testing.numbers import FLOOR, assert_close
from autograder.testing.purity import assert_pure
from autograder.testing.stability import all_scores_low, one_clear_winner
from support.efficient import (
    NAMES,
    assert_attention,
    assert_rows,
    in_float64,
    measuring,
    slips_of,
    slips_of_chunks,
    with_slips,
    without_constant,
)
from support.layouts import beside_tokens, in_each_layout, transposed


def slips_of_window(attention, window):
    """The slips of a window, which cost checks of their own."""
    slips = slips_of(lambda q, k, v: attention(q, k, v, 4), 4, least=0)
    return replace(slips, most=slips.most + window - 4)


def assert_extremes(function, cases, chunks):
    """Scores of 10,000, the best key first or last, and rows whose best score is far below 0."""
    for score in (90.0, 1e4):
        q, k, winners = one_clear_winner(cases, 2, n_q=4, n_k=8, d=11, score=score)
        v = cases.tensor(2, 8, 11)
        expected = torch.nn.functional.one_hot(winners, 8).double() @ v.double()
        for chunk in chunks:
            assert_close(function(q, k, v, chunk), expected, "out", within=FLOOR * float(v.abs().max()), dtype=q.dtype)
    q, k, best = all_scores_low(cases, n_q=4, n_k=8, d=11, score=-3e4, step=500.0)
    v = cases.tensor(8, 11)
    for chunk in chunks:
        got = function(q, k, v, chunk)
        assert_close(got, v[best].expand(4, 11), "out", within=FLOOR * float(v.abs().max()), dtype=q.dtype)


def assert_gradients_alike(student, function, oracle, q, k, v, cotangent, *rest, frozen=(), then=()):
    got = student.vjp(function, (q, k, v, *rest), (cotangent,), frozen=frozen, then=then)
    expected = vjp(oracle, (*in_float64(q, k, v), *rest), (cotangent.double(),))
    own = vjp(oracle, (q, k, v, *rest), (cotangent,))
    kept = [index for index in range(3) if index not in frozen]
    assert_gradients(*({NAMES[index]: each.args[index] for index in kept} for each in (got, expected, own)))
    if got.cotangents_changed:
        hint = (
            "the gradient that backward is given belongs to others, too: make a new tensor in place of writing into it"
        )
        raise Mismatch("the gradient given to backward", "as it was", "another one", hint)


@number("5.1c")
@weight(1)
@visibility("hidden")
@pytest.mark.read("handout 5.1")
def test_scores_that_rise_from_chunk_to_chunk(student, reference, cases):
    """What was summed so far must be rescaled when a larger score comes, and no score is too large or too low"""
    assert_extremes(student.chunked_attention, cases, (1, 2, 4))
    slips = slips_of_chunks(student.chunked_attention)
    for slope in (-8.0, 8.0):  # scores that rise, or fall, by some tens from the first key to the last
        q, k, v = cases.tensor(4, 64), cases.tensor(8, 64), cases.tensor(8, 64)
        k[:, 0], q[:, 0] = slope * torch.arange(8), 8.0
        for chunk in (1, 2, 4):
            got = student.chunked_attention(q, k, v, chunk)
            assert_rows(got, q, k, v, slips, torch.arange(4))


@number("5.1d")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 5.1")
@pytest.mark.parametrize("what", ["arguments", "gradients", "one key", "layouts"])
def test_chunks_let_gradients_through(student, reference, cases, what):
    """Chunks leave arguments and dtype alone and let gradients through, wherever numbers lie, empty rows included"""
    attention = student.chunked_attention
    oracle = with_slips(reference.chunked_attention, slips_of_chunks(attention), slips_of_chunks(attention, True))
    if what == "arguments":
        for dtype in (torch.float32, torch.float64):
            for args, causal in (((6, 4, 4), True), ((4, 6, 6), False)):
                q, k, v = (cases.tensor(2, n, 11, dtype=dtype) for n in args)
                seen = student.observe(attention, q, k, v, 2, causal=causal)
                assert_attention(seen.value, oracle(*in_float64(q, k, v), 2, causal=causal), q, k, v)
                assert_pure(seen, (q, k, v, 2), {"causal": causal})
    elif what == "gradients":
        for chunk, causal, frozen in (
            *((2, False, ()), (3, True, (0,)), (2, True, (1,)), (4, False, (2,)), (2, False, (1, 2))),
            *((4, True, ()), (100, True, ())),  # rows that see nothing, beside rows that do
        ):
            q, k, v, cotangent = (cases.tensor(2, n, 11) for n in (6, 4, 4, 6))
            then = (2 * q, k, v, chunk, causal)
            each = transposed(cotangent)
            assert_gradients_alike(student, attention, oracle, q, k, v, each, chunk, causal, frozen=frozen, then=then)
    elif what == "one key":
        for causal in (False, True):
            q, k, v, cotangent = (cases.tensor(2, n, 5) for n in (1, 1, 1, 1))
            assert_gradients_alike(student, attention, oracle, q, k, v, cotangent, 1, causal)
    else:
        for q, k, v in in_each_layout(*(cases.tensor(2, 3, n, 5) for n in (4, 6, 6))):
            assert_attention(attention(q, k, v, 2), oracle(*in_float64(q, k, v), 2), q, k, v)


@number("5.1f")
@weight(2)
@visibility("hidden")
@pytest.mark.read("handout 5.1")
@pytest.mark.timeout(45)
def test_memory_of_chunks_by_the_kernel(student, cases, forbids):
    """Attention to 8,192 keys holds one chunk of scores at a time, and nothing that grows with n squared"""
    attention, what = student.chunked_attention, "chunked_attention"
    slips, causal = slips_of_chunks(attention), slips_of_chunks(attention, True)
    q, k, v = (4 * cases.tensor(8192, 64), cases.tensor(8192, 64), cases.tensor(8192, 64))
    for warm in (256, 256):
        attention(q[:warm], k[:warm], v[:warm], 256)
    for each, rest, most in ((slips, (256,), 128), (causal, (256, True), 96)):
        got = weigh(student, lambda args=(q, k, v, *rest): attention(*args), most, what)
        assert_rows(got, q, k, v, each, cases.permutation(8192)[:512])
    later = slips_of_chunks(attention, True, n_q=7)
    for each, rest, axes, more in ((slips, (64,), (3,), 0), (later, (64, True), (), 64)):
        measure = measuring(student, attention, cases, each, forbids, *rest, axes=axes, more_keys=more)
        points = assert_linear_memory(measure, 64, what)
        assert_seen(points.points[0], 0.25 * 512 * 512 * (64 + 64), what)
    for each, *rest in ((slips,), (causal, True)):
        [point] = measuring(student, attention, cases, each, forbids, 128, *rest, d=16)([1024])
        assert_largest_tensor(point, 2.1 * max(1024 * 16 * 4, 128 * 128 * 4), what)
        [point] = measuring(student, attention, cases, each, forbids, 64, *rest, axes=(), d=1)([2048])
        assert_largest_tensor(point, 2.1 * max(2048 * 1 * 4, 64 * 64 * 4), what)  # or the chunk grows with n


@number("5.2c")
@weight(0.75)
@visibility("hidden")
@pytest.mark.read("handout 5.2")
@pytest.mark.parametrize("n_q, n_k, d_v", [(6, 6, 11), (4, 8, 11), (6, 4, 11), (6, 6, 3), (7, 5, 11)])
def test_gradients_of_causal_flash_attention(student, reference, cases, n_q, n_k, d_v):
    """Nothing flows back from a query to its future, and a query that sees nothing has gradient 0"""
    q, k, v = cases.tensor(2, n_q, 11), cases.tensor(2, n_k, 11), cases.tensor(2, n_k, d_v)
    cotangent, attention = cases.tensor(2, n_q, d_v), student.flash_attention
    slips = slips_of_chunks(attention)
    oracle = with_slips(reference.flash_attention, slips, replace(slips, least=0))
    for chunk in (2, 3, 5, 100) if n_q == 7 else (1, 2):
        assert_gradients_alike(student, attention, oracle, q, k, v, cotangent, chunk, True)


@number("5.2d")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 5.2")
def test_flash_attention_with_extreme_scores(student, reference, cases):
    """Scores of 10,000 overflow neither forward nor backward, and the arguments stay as they were"""
    attention = student.flash_attention
    assert_extremes(attention, cases, (1, 2, 4))
    oracle = with_slips(reference.flash_attention, slips_of_chunks(attention), slips_of_chunks(attention, True))
    for dtype in (torch.float32, torch.float64):
        q, k, v = (cases.tensor(6, 11, dtype=dtype) for _ in range(3))
        for causal in (False, True):
            seen = student.observe(attention, q, k, v, 2, causal)
            expected = oracle(*in_float64(q, k, v), 2, causal)
            assert_attention(seen.value, expected, q, k, v)
            assert_pure(seen, (q, k, v, 2, causal))
    q, k, _ = one_clear_winner(cases, n_q=4, n_k=8, d=11, score=1e4)
    v, cotangent = cases.tensor(8, 11), cases.tensor(4, 11)
    pulled = student.vjp(student.flash_attention, (q, k, v, 2), (cotangent,))
    for gradient, name in zip(pulled.args, NAMES, strict=False):
        assert_arrives(gradient, name)
    q, k, _ = all_scores_low(cases, n_q=4, n_k=8, d=11, score=-3e4, step=500.0)
    pulled = student.vjp(student.flash_attention, (q, k, v, 2), (cotangent,))
    expected = vjp(oracle, (*in_float64(q, k, v), 2), (cotangent.double(),))
    gradients = [dict(zip(NAMES, each.args, strict=False)) for each in (pulled, expected, expected)]
    assert_gradients(*gradients, floor=0.02)  # scores of 30,000 are rounded by thousandths


@number("5.2f")
@weight(2)
@visibility("hidden")
@pytest.mark.read("handout 5.2")
@pytest.mark.timeout(60)
def test_memory_of_training_by_the_kernel(student, cases, forbids):
    """Training on 4,096 tokens keeps a number a query for the backward pass, and computes the weights again"""
    attention, what, n = student.flash_attention, "flash_attention in training", 4096
    slips, later = slips_of_chunks(attention), slips_of_chunks(attention, True, n_q=7)
    q, k, v, cotangent = 2 * cases.tensor(n, 64), *(cases.tensor(n, 64) for _ in range(3))
    for warm in (256, 256):
        student.vjp(attention, (q[:warm], k[:warm], v[:warm], 256), (cotangent[:warm],))
    got = weigh(student, lambda: student.vjp(attention, (q, k, v, 256), (cotangent,)), 64, what)
    rows = cases.permutation(n)[:256]
    assert_rows(got.value, q, k, v, slips, rows)
    assert_gradients_at(got.args, q, k, v, cotangent, slips, rows)
    for each, rest, axes, more in ((slips, (64,), (2,), 0), (later, (64, True), (), 64)):
        measure = measuring(student, attention, cases, each, forbids, *rest, axes=axes, more_keys=more, grad=True)
        points = assert_linear_memory(measure, 64, what, training=True)
        assert_seen(points.points[0], 0.5 * 512 * 512 * (64 + 64), what)


def assert_gradients_at(got, q, k, v, cotangent, slips, rows):
    """Gradients by some queries, keys and values, each up to a constant, where scores are too many to be kept."""
    gradients = {name: assert_arrives(each, name) for name, each in zip(NAMES, got, strict=False)}
    scale = q.shape[-1] ** ((slips.power - 1) / 2)
    q, k, v, cotangent = in_float64(scale * q, k, v, cotangent)
    total = torch.cat([(part @ k.T).logsumexp(-1, keepdim=True) for part in q.split(512)])
    row_sum = torch.cat(
        [
            ((part @ k.T - given).exp() @ v * above).sum(-1, keepdim=True)
            for part, given, above in zip(q.split(512), total.split(512), cotangent.split(512), strict=True)
        ]
    )
    weights = (q[rows] @ k.T - total[rows]).exp()
    by_scores = weights * (cotangent[rows] @ v.T - row_sum[rows])
    expected = {"q": scale * by_scores @ k}
    weights = (q @ k[rows].T - total).exp()
    expected["k"] = (weights * (cotangent @ v[rows].T - row_sum)).T @ q
    expected["v"] = weights.T @ cotangent
    largest = max(float(each.abs().max()) for each in expected.values())
    for name, each in expected.items():
        what = f"gradient by {name}"
        assert_close(without_constant(gradients[name][rows], each), each, what, within=4 * FLOOR * largest)


@number("5.2g")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 5.2")
@pytest.mark.parametrize("how", ["q frozen", "k frozen", "v frozen", "two calls", "another layout"])
def test_gradients_whoever_asks_for_them(student, reference, cases, how):
    """Gradients are right whichever of q, k and v need them, after another call, and of a cotangent that is a view"""
    attention = student.flash_attention
    oracle = with_slips(reference.flash_attention, slips_of_chunks(attention), slips_of_chunks(attention, True))
    for causal in (False, True):
        q, k, v, cotangent = (cases.tensor(2, 3, 6, 5) for _ in range(4))
        frozen, then = {"q frozen": (0,), "k frozen": (1,), "v frozen": (2,)}.get(how, ()), ()
        if how == "two calls":
            then = (*(cases.tensor(2, 4, 5) for _ in range(3)), 4, not causal)
        if how == "another layout":
            q, k, v = (transposed(each) for each in (q, k, v))
            shape = cotangent.shape
            views = (cotangent[:1].expand(shape), cotangent[..., :1].expand(shape), cotangent[:, :1].expand(shape))
            for place in (transposed(cotangent), beside_tokens(cotangent), *views):
                assert_gradients_alike(student, attention, oracle, q, k, v, place, 2, causal)
            for placed in in_each_layout(q, k, v):
                expected = oracle(*in_float64(*placed), 2, causal)
                assert_attention(attention(*placed, 2, causal), expected, *placed)
        else:
            assert_gradients_alike(student, attention, oracle, q, k, v, cotangent, 2, causal, frozen=frozen, then=then)


@number("5.3b")
@weight(1)
@visibility("hidden")
@pytest.mark.read("handout 5.3")
@pytest.mark.parametrize(
    "sizes",
    [
        ((6, 1), (130, 1)),
        ((6, 6), (6, 9), (130, 500), (5, 100_000)),
        ((1, 1), (1, 5)),
        ((200, 3), (300, 64), (200, 65)),
        ((700, 150), (600, 257), (1100, 100)),
    ],
    ids=["window of 1", "window of n and more", "one token", "long sequences", "wide windows"],
)
def test_smallest_and_largest_windows(student, cases, sizes):
    """A window of 1 sees the query's own key alone, and one of n or more is causal attention

    Longer sequences and wider windows are tried here, too, so that windows lie across whatever blocks there are.
    """
    attention = student.sliding_window_attention
    slips = slips_of_window(attention, 4)
    for n, window in sizes:
        batch = 8 if window > 10_000 else 2  # a row for each key of a window that is larger than n would be too much
        q, k, v = (cases.tensor(batch, n, 64) for _ in range(3))
        assert_rows(attention(q, k, v, window), q, k, v, replace(slips, most=slips.most + window - 4), torch.arange(n))


@number("5.3d")
@weight(1.5)
@visibility("hidden")
@pytest.mark.read("handout 5.3")
@pytest.mark.timeout(30)
def test_memory_of_the_window(student, cases, forbids):
    """A window of 64 keys takes at most 4,096 bytes a token, however long the sequence, and however many there are"""
    attention, what = student.sliding_window_attention, "sliding_window_attention"
    slips, n = slips_of_window(attention, 64), 4096
    q, k, v = (4 * cases.tensor(n, 64), cases.tensor(n, 64), cases.tensor(n, 64))
    for warm in (256, 256):
        attention(q[:warm], k[:warm], v[:warm], 64)
    got = weigh(student, lambda: attention(q, k, v, 64), 48, what)
    for rows in torch.arange(n).split(512):
        assert_rows(got, q, k, v, slips, rows)
    for axes, length in (((1, 1), n), ((4,), 1024), ((), n)):
        measure = measuring(student, attention, cases, slips, forbids, 64, axes=axes)
        [point] = within_memory(measure, what)([length])
        tokens = n if axes else length
        assert_bytes_a_token(replace(point, n=tokens), 4096, what)
        assert_seen(point, 0.5 * tokens * 64 * (64 + 64), what)


@number("5.3e")
@weight(0.75)
@visibility("hidden")
@pytest.mark.read("handout 5.3")
@pytest.mark.parametrize("what", ["arguments", "gradients", "one token", "extremes", "values of another width"])
def test_window_lets_gradients_through(student, reference, cases, what):
    """A window leaves arguments and dtype alone, lets gradients through, and fears no score"""
    attention, oracle = student.sliding_window_attention, reference.sliding_window_attention
    if what == "arguments":
        for dtype in (torch.float32, torch.float64):
            q, k, v = (cases.tensor(9, 11, dtype=dtype) for _ in range(3))
            seen = student.observe(attention, q, k, v, 4)
            assert_attention(seen.value, oracle(*in_float64(q, k, v), 4), q, k, v)
            assert_pure(seen, (q, k, v, 4))
        for q, k, v in in_each_layout(*(cases.tensor(2, 3, 9, 5) for _ in range(3))):
            assert_attention(attention(q, k, v, 4), oracle(*in_float64(q, k, v), 4), q, k, v)
    elif what == "gradients":
        for n, window, frozen in ((9, 4, ()), (9, 4, (0,)), (70, 5, (1,)), (9, 20, (2,))):
            q, k, v, cotangent = (cases.tensor(2, n, 11) for _ in range(4))
            then = (2 * q, k, v, window)
            each = transposed(cotangent)
            assert_gradients_alike(student, attention, oracle, q, k, v, each, window, frozen=frozen, then=then)
    elif what == "one token":
        q, k, v, cotangent = (cases.tensor(2, 1, 5) for _ in range(4))
        assert_gradients_alike(student, attention, oracle, q, k, v, cotangent, 3)
    elif what == "extremes":
        for sign in (1.0, -1.0):
            q, k, _ = all_scores_low(cases, n_q=8, n_k=8, d=11, score=-3e4, step=500.0)
            v = cases.tensor(8, 11)
            got, expected = attention(sign * q, k, v, 8), oracle(*in_float64(sign * q, k, v), 8)
            assert_close(got, expected, "out", within=FLOOR * float(v.abs().max()), dtype=q.dtype)
        q, k, v = cases.tensor(9, 11), cases.tensor(9, 11), cases.tensor(9, 11)
        k[:5] += 400.0 * q[:1]  # louder by hundreds than the window's: it has passed
        slips = slips_of_window(attention, 4)
        got, rows = attention(q, k, v, 4), torch.arange(8, 9)
        expected = slips.attention(*in_float64(q, k, v), rows)
        assert_close(got[..., rows, :], expected, "out", within=10 * FLOOR, dtype=q.dtype)
    else:
        for n, d_k, d_v in ((9, 4, 7), (70, 5, 2), (3, 1, 4)):
            q, k, v = cases.tensor(2, n, d_k), cases.tensor(2, n, d_k), cases.tensor(2, n, d_v)
            cotangent = cases.tensor(2, n, d_v)
            assert_attention(attention(q, k, v, 4), oracle(*in_float64(q, k, v), 4), q, k, v)
            assert_gradients_alike(student, attention, oracle, q, k, v, cotangent, 4)


@number("5.3f")
@weight(0.25)
@visibility("hidden")
@pytest.mark.read("handout 5.3")
@pytest.mark.parametrize("function", ["chunked_attention", "flash_attention", "sliding_window_attention"])
def test_functions_keep_the_device(student, reference, cases, function):
    """What a function makes itself (places, sums, a causal mask) is made on the device of its arguments"""
    q, k, v = (cases.tensor(2, 6, 5) for _ in range(3))
    attention, rest = getattr(student, function), () if function == "sliding_window_attention" else (True,)
    oracle = getattr(reference, function)
    if rest:
        oracle = with_slips(oracle, slips_of_chunks(attention), slips_of_chunks(attention, True))
    expected = oracle(*in_float64(q, k, v), 3, *rest)
    assert_attention(attention(q, k, v, 3, *rest), expected, q, k, v)
    assert_keeps_device(student, attention, q, k, v, 3, *rest)
