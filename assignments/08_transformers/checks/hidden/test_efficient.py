"""Hidden checks of part 5: scores that rise, rows that see nothing, and the kernel's account at lengths that matter.

A memory check gives points only where neither the allocation model nor the kernel's account fails it; the call that
is weighed is the call whose values are compared. Oracles and bounds as in the visible checks.
"""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from autograder.testing.attention import assert_attention_where_measured, factor_of_scores
from autograder.testing.gradients import assert_arrives, assert_gradients, vjp
from autograder.testing.memory import (
    assert_bytes_a_token,
    assert_largest_tensor,
    assert_linear_memory,
    assert_seen,
    shapes,
    weigh,
    within_memory,
)
from autograder.testing.numbers import assert_close, attention_bounds, rounding
from autograder.testing.operators import assert_own_attention, own_work
from autograder.testing.purity import assert_pure
from autograder.testing.stability import all_scores_low, one_clear_winner

NAMES = ("q", "k", "v")


def in_float64(*tensors):
    return tuple(tensor.double() for tensor in tensors)


def factor_of(attention, d):
    """What the oracle's queries are multiplied by, so that a wrong scale costs its own checks, and not all."""
    return factor_of_scores(lambda q, k, v: attention(q, k, v, 2), d)


def assert_attention(got, expected, q, k, v):
    within, _ = attention_bounds(q, k, v)
    assert_close(got, expected, "out", within=within, dtype=q.dtype)


def assert_extremes(function, cases, chunks):
    """Scores of 10,000, the best key first or last, and rows whose best score is far below 0."""
    within = 4 * rounding(torch.float32)
    for score in (90.0, 1e4):
        q, k, winners = one_clear_winner(cases, 2, n_q=5, n_k=7, d=11, score=score)
        v = cases.tensor(2, 7, 13)
        expected = torch.nn.functional.one_hot(winners, 7).double() @ v.double()
        for chunk in chunks:
            assert_close(function(q, k, v, chunk), expected, "out", within=within * float(v.abs().max()), dtype=q.dtype)
    q, k, best = all_scores_low(cases, n_q=5, n_k=7, d=11, score=-3e4, step=500.0)
    v = cases.tensor(7, 13)
    for chunk in chunks:
        got = function(q, k, v, chunk)
        assert_close(got, v[best].expand(5, 13), "out", within=within * float(v.abs().max()), dtype=q.dtype)


def assert_gradients_alike(student, function, oracle, q, k, v, cotangent, *rest):
    got = student.vjp(function, (q, k, v, *rest), (cotangent,))
    expected = vjp(oracle, (*in_float64(q, k, v), *rest), (cotangent.double(),))
    own = vjp(oracle, (q, k, v, *rest), (cotangent,))
    assert_gradients(*(dict(zip(NAMES, each.args, strict=False)) for each in (got, expected, own)))


@number("5.1c")
@weight(1)
@visibility("hidden")
@pytest.mark.read("handout 5.1")
def test_scores_that_rise_from_chunk_to_chunk(student, reference, cases, forbids):
    """What was summed so far must be rescaled when a larger score comes, and no score is too large or too low"""
    assert_own_attention(student, student.chunked_attention, forbids)
    assert_extremes(student.chunked_attention, cases, (1, 2, 3, 100))
    for slope in (-8.0, 8.0):  # scores that rise, or fall, by some tens from the first key to the last
        k = cases.tensor(9, 11)
        q = cases.tensor(5, 11)
        k[:, 0], q[:, 0] = slope * torch.arange(9), 3.0
        v = cases.tensor(9, 13)
        scaled = factor_of(student.chunked_attention, 11) * q
        expected = reference.chunked_attention(*in_float64(scaled, k, v), 100)
        for chunk in (1, 2, 4):
            assert_attention(student.chunked_attention(q, k, v, chunk), expected, scaled, k, v)


@number("5.1d")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 5.1")
def test_chunks_let_gradients_through(student, reference, cases, forbids):
    """Chunks leave arguments and dtype alone and let gradients through, empty rows included"""
    assert_own_attention(student, student.chunked_attention, forbids)
    for dtype in (torch.float32, torch.float64):
        q, k, v = (cases.tensor(2, n, d, dtype=dtype) for n, d in ((7, 11), (5, 11), (5, 13)))
        seen = student.observe(student.chunked_attention, q, k, v, 2, causal=True)
        expected = reference.chunked_attention(*in_float64(q, k, v), 2, causal=True)
        assert_attention(seen.value, expected, q, k, v)
        assert_pure(seen, (q, k, v, 2), {"causal": True})
    for causal in (False, True):
        q, k, v, cotangent = (cases.tensor(2, n, d) for n, d in ((7, 11), (5, 11), (5, 13), (7, 13)))
        assert_gradients_alike(
            student, student.chunked_attention, reference.chunked_attention, q, k, v, cotangent, 3, causal
        )


@number("5.1f")
@weight(2)
@visibility("hidden")
@pytest.mark.read("handout 5.1")
@pytest.mark.timeout(45)
def test_memory_of_chunks_by_the_kernel(student, reference, cases, forbids):
    """Attention to 8,192 keys holds one chunk of scores at a time, and nothing that grows with n squared"""
    attention, what = student.chunked_attention, "chunked_attention"
    assert_own_attention(student, attention, forbids)
    q, k, v = (4 * cases.tensor(8192, 64), cases.tensor(8192, 64), cases.tensor(8192, 64))
    scaled = factor_of(attention, 64) * q
    for warm in (300, 300):
        attention(q[:warm], k[:warm], v[:warm], 256)
    got = weigh(student, lambda: attention(q, k, v, 256), 128, what)
    rows = cases.permutation(8192)[:512]
    expected = reference.chunked_attention(*in_float64(scaled[rows], k, v), 256)
    assert_close(got, torch.zeros(8192, 64), "out", within=2 * float(v.abs().max()), dtype=q.dtype)
    assert_attention(got[rows], expected, scaled[rows], k, v)
    got = weigh(student, lambda: attention(q, k, v, 256, causal=True), 96, f"{what}, causal")
    expected = reference.chunked_attention(*in_float64(scaled[-512:], k, v), 256, causal=True)
    assert_close(got, torch.zeros(8192, 64), "out", within=2 * float(v.abs().max()), dtype=q.dtype)
    assert_attention(got[-512:], expected, scaled[-512:], k, v)
    measure = own_work(
        lambda lengths: student.measure(attention, lambda n: (*shapes(n, 64), 64, True), lengths), forbids, what
    )
    assert_linear_memory(measure, 64, what)
    [point] = student.measure(attention, lambda n: (*shapes(n, 64), 64), [512])
    assert_seen(point, 0.5 * 512 * 512 * (64 + 64), what)
    assert_attention_where_measured(attention, cases, 512, 64, 64, causal=(False, True))
    assert_attention_where_measured(attention, cases, 1024, 16, 128)
    [point] = student.measure(attention, lambda n: (*shapes(n, 16), 128), [1024])
    assert_largest_tensor(point, 2.1 * max(1024 * 16 * 4, 128 * 128 * 4), what)
    [point] = student.measure(attention, lambda n: (*shapes(n, 1), 64), [2048])  # or the chunk grows with n
    assert_largest_tensor(point, 2.1 * max(2048 * 1 * 4, 64 * 64 * 4), what)


@number("5.2c")
@weight(1)
@visibility("hidden")
@pytest.mark.read("handout 5.2")
def test_gradients_of_causal_flash_attention(student, reference, cases, forbids):
    """Nothing flows back from a query to its future, and a query that sees nothing has gradient 0"""
    assert_own_attention(student, student.flash_attention, forbids, grad=True)
    for n_q, n_k in ((6, 6), (5, 7), (7, 5)):
        q, k, v = cases.tensor(2, n_q, 11), cases.tensor(2, n_k, 11), cases.tensor(2, n_k, 13)
        cotangent = cases.tensor(2, n_q, 13)
        for chunk in (1, 2, 3, 100):
            assert_gradients_alike(
                student, student.flash_attention, reference.flash_attention, q, k, v, cotangent, chunk, True
            )


@number("5.2d")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 5.2")
def test_flash_attention_with_extreme_scores(student, reference, cases, forbids):
    """Scores of 10,000 overflow neither forward nor backward, and the arguments stay as they were"""
    assert_own_attention(student, student.flash_attention, forbids, grad=True)
    assert_extremes(student.flash_attention, cases, (1, 2, 100))
    q, k, v = (cases.tensor(5, d, dtype=torch.float64) for d in (11, 11, 13))
    seen = student.observe(student.flash_attention, q, k, v, 2)
    assert_attention(seen.value, reference.flash_attention(q, k, v, 2), q, k, v)
    assert_pure(seen, (q, k, v, 2))
    q, k, _ = one_clear_winner(cases, n_q=5, n_k=7, d=11, score=1e4)
    v, cotangent = cases.tensor(7, 13), cases.tensor(5, 13)
    pulled = student.vjp(student.flash_attention, (q, k, v, 2), (cotangent,))
    for gradient, name in zip(pulled.args, NAMES, strict=False):
        assert_arrives(gradient, name)


@number("5.2f")
@weight(2)
@visibility("hidden")
@pytest.mark.read("handout 5.2")
@pytest.mark.timeout(60)
def test_memory_of_training_by_the_kernel(student, reference, cases, forbids):
    """Training on 4,096 tokens keeps a number a query for the backward pass, and computes the weights again"""
    attention, what = student.flash_attention, "flash_attention"
    assert_own_attention(student, attention, forbids, grad=True)
    factor, n = factor_of(attention, 64), 4096

    def oracle(q, k, v, cotangent, chunk):
        pulled = vjp(reference.flash_attention, (factor * q, k, v, chunk), (cotangent,)).args
        return dict(zip(NAMES, (factor * pulled[0], *pulled[1:3]), strict=True))

    q, k, v = (2 * cases.tensor(n, 64), cases.tensor(n, 64), cases.tensor(n, 64))
    rows = cases.permutation(n)[:256]
    part = cases.tensor(256, 64)
    cotangent = torch.zeros(n, 64, dtype=part.dtype)
    cotangent[rows] = part  # so that the oracle is cheap; who computes the gradients cannot know
    for warm in (300, 300):
        student.vjp(attention, (q[:warm], k[:warm], v[:warm], 256), (cotangent[:warm],))
    got = weigh(student, lambda: student.vjp(attention, (q, k, v, 256), (cotangent,)), 64, f"{what} in training")
    expected = oracle(*in_float64(q[rows], k, v, part), 256)
    own = oracle(q[rows], k, v, part, 256)
    gradients = dict(zip(NAMES, got.args, strict=False))
    assert_arrives(gradients["q"], "q")
    gradients["q"] = gradients["q"][rows]
    assert_gradients(gradients, expected, own)
    measure = own_work(
        lambda lengths: student.measure(attention, lambda n: (*shapes(n, 64), 64, True), lengths, grad=True),
        forbids,
        what,
    )
    assert_linear_memory(measure, 64, f"{what} in training", training=True)
    [point] = student.measure(attention, lambda n: (*shapes(n, 64), 64), [512], grad=True)
    assert_seen(point, 512 * 512 * (64 + 64), what)
    q, k, v, cotangent = (cases.tensor(1, 1, 512, 64) for _ in range(4))  # as it was measured
    got = student.vjp(attention, (q, k, v, 64), (cotangent,))
    expected, own = oracle(*in_float64(q, k, v, cotangent), 64), oracle(q, k, v, cotangent, 64)
    assert_gradients(dict(zip(NAMES, got.args, strict=False)), expected, own)


@number("5.3b")
@weight(1)
@visibility("hidden")
@pytest.mark.read("handout 5.3")
def test_smallest_and_largest_windows(student, reference, cases, forbids):
    """A window of 1 sees the query's own key alone, and one of n or more is causal attention

    Longer sequences are tried here, too, so that windows lie across whatever blocks there are.
    """
    assert_own_attention(student, student.sliding_window_attention, forbids)
    factor = factor_of(student.sliding_window_attention, 11)
    for n, window in ((1, 1), (1, 5), (6, 1), (6, 6), (6, 9), (200, 3), (200, 65), (300, 64), (130, 500)):
        q, k, v = cases.tensor(2, n, 11), cases.tensor(2, n, 11), cases.tensor(2, n, 13)
        scaled = factor * q
        expected = reference.sliding_window_attention(*in_float64(scaled, k, v), window)
        assert_attention(student.sliding_window_attention(q, k, v, window), expected, scaled, k, v)
    q, k, _ = all_scores_low(cases, n_q=7, n_k=7, d=11, score=-3e4, step=500.0)
    v = cases.tensor(7, 13)
    expected = reference.sliding_window_attention(*in_float64(q, k, v), 7)
    within = 4 * rounding(q.dtype) * float(v.abs().max())
    assert_close(student.sliding_window_attention(q, k, v, 7), expected, "out", within=within, dtype=q.dtype)


@number("5.3d")
@weight(1.5)
@visibility("hidden")
@pytest.mark.read("handout 5.3")
@pytest.mark.timeout(30)
def test_memory_of_the_window(student, reference, cases, forbids):
    """A window of 64 keys takes at most 4,096 bytes a token, however long the sequence"""
    attention, what = student.sliding_window_attention, "sliding_window_attention"
    assert_own_attention(student, attention, forbids)
    factor, n = factor_of(attention, 64), 4096
    q, k, v = (4 * cases.tensor(n, 64), cases.tensor(n, 64), cases.tensor(n, 64))
    for warm in (300, 300):
        attention(q[:warm], k[:warm], v[:warm], 64)
    got = weigh(student, lambda: attention(q, k, v, 64), 48, what)
    assert_close(got, torch.zeros(n, 64), "out", within=2 * float(v.abs().max()), dtype=q.dtype)
    middle = slice(1500, 2012)
    scaled = factor * q[middle]
    expected = reference.sliding_window_attention(*in_float64(scaled, k[middle], v[middle]), 64)[64:]
    assert_attention(got[middle][64:], expected, scaled, k[middle], v[middle])
    measure = own_work(
        lambda lengths: student.measure(attention, lambda n: (*shapes(n, 64), 64), lengths), forbids, what
    )
    q, k, v = (cases.tensor(1, 1, n, 64) for _ in range(3))  # as it is measured
    got = attention(q, k, v, 64)
    assert_close(got, torch.zeros(1, 1, n, 64), "out", within=2 * float(v.abs().max()), dtype=q.dtype)
    q, k, v, got = (each[..., middle, :] for each in (q, k, v, got))
    expected = reference.sliding_window_attention(*in_float64(factor * q, k, v), 64)
    assert_attention(got[..., 64:, :], expected[..., 64:, :], factor * q, k, v)
    [point] = within_memory(measure, what)([n])
    assert_bytes_a_token(point, 4096, what)
    assert_seen(point, 0.5 * n * 64 * (64 + 64), what)


@number("5.3e")
@weight(1)
@visibility("hidden")
@pytest.mark.read("handout 5.3")
def test_window_lets_gradients_through(student, reference, cases, forbids):
    """A window leaves arguments and dtype alone, and lets gradients through"""
    attention = student.sliding_window_attention
    assert_own_attention(student, attention, forbids)
    q, k, v = (cases.tensor(9, d, dtype=torch.float64) for d in (11, 11, 13))
    seen = student.observe(attention, q, k, v, 4)
    assert_attention(seen.value, reference.sliding_window_attention(q, k, v, 4), q, k, v)
    assert_pure(seen, (q, k, v, 4))
    for n, window in ((9, 4), (70, 5)):
        q, k, v, cotangent = (cases.tensor(2, n, d) for d in (11, 11, 13, 13))
        assert_gradients_alike(student, attention, reference.sliding_window_attention, q, k, v, cotangent, window)
