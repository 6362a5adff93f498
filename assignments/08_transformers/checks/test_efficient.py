"""Visible checks of part 5: exact attention in chunks, and how its memory grows.

Oracles are the reference in float64, bounds those of attention (`attention_bounds`). Memory is judged by the
allocation model and, where it is kept, by the kernel's account of a call whose values are compared, too.
"""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, weight

from autograder.testing.attention import assert_attention_where_measured, factor_of_scores
from autograder.testing.gradients import assert_arrives, assert_gradients, vjp
from autograder.testing.memory import assert_linear_memory, assert_linear_operations, shapes, weigh
from autograder.testing.numbers import assert_close, attention_bounds
from autograder.testing.operators import assert_own_attention, own_work

NAMES = ("q", "k", "v")
LENGTHS = ((6, 6), (5, 7), (7, 5), (1, 4), (4, 1))


def in_float64(*tensors):
    return tuple(tensor.double() for tensor in tensors)


def any_scale(attention, q, k, v, mask=None):
    """Attention by torch, in float64, with the scores of `attention`, whose scale other checks look at."""
    scaled = factor_of_scores(lambda q, k, v: attention(q, k, v, 2), q.shape[-1]) * q
    return torch.nn.functional.scaled_dot_product_attention(*in_float64(scaled, k, v), mask), scaled


def assert_attention(got, expected, q, k, v):
    within, _ = attention_bounds(q, k, v)
    assert_close(got, expected, "out", within=within, dtype=q.dtype)


@number("5.1a")
@weight(1.5)
@pytest.mark.read("handout 5.1")
def test_chunks_change_nothing(student, reference, cases, forbids):
    """Attention in chunks is attention: chunks of any size, dividing n or not, 1 or more than n

    Stays though others catch all that it catches: it is the exercise itself, and it shows a student the numbers.
    """
    assert_own_attention(student, student.chunked_attention, forbids)
    for q, k, v in cases.attention():
        expected = reference.chunked_attention(*in_float64(q, k, v), 100)
        for chunk in (1, 2, 3, 4, 5, 7, 100):
            assert_attention(student.chunked_attention(q, k, v, chunk), expected, q, k, v)


@number("5.1b")
@weight(1)
@pytest.mark.read("handout 5.1")
def test_causal_chunks(student, reference, cases, forbids):
    """Causal: the last query is aligned with the last key, whatever the chunks; who sees nothing gets 0

    Stays beside 5.1d, which fails with it by gradients: that one is hidden, and this one shows a student the numbers.
    """
    assert_own_attention(student, student.chunked_attention, forbids)
    for n_q, n_k in LENGTHS:
        q, k, v = cases.tensor(2, n_q, 11), cases.tensor(2, n_k, 11), cases.tensor(2, n_k, 13)
        expected = reference.chunked_attention(*in_float64(q, k, v), 100, causal=True)
        for chunk in (1, 2, 3, 4, 100):
            assert_attention(student.chunked_attention(q, k, v, chunk, causal=True), expected, q, k, v)


@number("5.1e")
@weight(1)
@pytest.mark.read("handout 5.1")
@pytest.mark.timeout(30)
def test_memory_of_chunks_grows_linearly(student, cases, forbids):
    """An average can be kept up to date, so attention needs no n x n scores: memory grows with n

    Stays beside 5.1f, which fails with it: that one is hidden, and this one shows a student the table.
    """
    assert_own_attention(student, student.chunked_attention, forbids)
    for causal in (False, True):

        def measure(lengths, causal=causal):
            return student.measure(student.chunked_attention, lambda n: (*shapes(n, 64), 64, causal), lengths)

        assert_linear_memory(own_work(measure, forbids, "chunked_attention"), 64, "chunked_attention")
    attention = student.chunked_attention
    assert_attention_where_measured(attention, cases, 512, 64, 64)
    q, k, v = (4 * cases.tensor(2048, 64), cases.tensor(2048, 64), cases.tensor(2048, 64))
    expected, scaled = any_scale(attention, q, k, v)
    for warm in (300, 300):
        attention(q[:warm], k[:warm], v[:warm], 256)
    got = weigh(student, lambda: attention(q, k, v, 256), 20, "chunked_attention")
    assert_attention(got, expected, scaled, k, v)


@number("5.2a")
@weight(1)
@pytest.mark.read("handout 5.2")
def test_flash_attention_is_attention(student, reference, cases, forbids):
    """Flash attention is attention: the same numbers, causal or not, whatever the chunks

    Stays beside 5.2b and 5.2c: they fail with it by gradients, and this one tells a student that forward is wrong.
    """
    assert_own_attention(student, student.flash_attention, forbids, grad=True)
    for q, k, v in cases.attention():
        expected = reference.flash_attention(*in_float64(q, k, v), 100)
        for chunk in (1, 3, 4, 100):
            assert_attention(student.flash_attention(q, k, v, chunk), expected, q, k, v)
    for n_q, n_k in LENGTHS:
        q, k, v = cases.tensor(2, n_q, 11), cases.tensor(2, n_k, 11), cases.tensor(2, n_k, 13)
        expected = reference.flash_attention(*in_float64(q, k, v), 100, causal=True)
        for chunk in (1, 2, 4, 100):
            assert_attention(student.flash_attention(q, k, v, chunk, causal=True), expected, q, k, v)


@number("5.2b")
@weight(1.5)
@pytest.mark.read("handout 5.2")
def test_gradients_of_flash_attention(student, reference, cases, forbids):
    """Weights that were thrown away can be computed again: the gradients are those of attention

    Stays beside 5.2c, which fails with it: that one is hidden and causal, and this one shows a student the numbers.
    """
    assert_own_attention(student, student.flash_attention, forbids, grad=True)
    for q, k, v in cases.attention(least_keys=2):
        cotangent = cases.tensor(*q.shape[:-1], v.shape[-1])
        expected = vjp(reference.flash_attention, (*in_float64(q, k, v), 100), (cotangent.double(),))
        own = vjp(reference.flash_attention, (q, k, v, 2), (cotangent,))
        for chunk in (1, 3, 4, 100):
            got = student.vjp(student.flash_attention, (q, k, v, chunk), (cotangent,))
            assert_gradients(*(dict(zip(NAMES, each.args, strict=False)) for each in (got, expected, own)))


@number("5.2e")
@weight(1)
@pytest.mark.read("handout 5.2")
@pytest.mark.timeout(60)
def test_memory_of_training_grows_linearly(student, cases, forbids):
    """A backward pass that computes the weights again need not keep them: memory of training grows with n

    Stays beside 5.2f, which fails with it: that one is hidden, and this one shows a student the table.
    """
    assert_own_attention(student, student.flash_attention, forbids, grad=True)
    for causal in (False, True):

        def measure(lengths, causal=causal):
            return student.measure(student.flash_attention, lambda n: (*shapes(n, 64), 64, causal), lengths, grad=True)

        what = "flash_attention in training"
        assert_linear_memory(own_work(measure, forbids, what), 64, what, training=True)
    attention, what = student.flash_attention, "flash_attention in training"
    assert_attention_where_measured(attention, cases, 512, 64, 64)
    q, k, v = (2 * cases.tensor(2048, 64), cases.tensor(2048, 64), cases.tensor(2048, 64))
    cotangent = cases.tensor(2048, 64)
    expected, scaled = any_scale(attention, q, k, v)
    for warm in (300, 300):
        student.vjp(attention, (q[:warm], k[:warm], v[:warm], 256), (cotangent[:warm],))
    got = weigh(student, lambda: student.vjp(attention, (q, k, v, 256), (cotangent,)), 60, what)
    assert_attention(got.value, expected, scaled, k, v)
    assert_arrives(got.args[0], "q")


@number("5.3a")
@weight(1.5)
@pytest.mark.read("handout 5.3")
def test_window_is_attention_to_the_latest_keys(student, reference, cases, forbids):
    """With a window w, query i attends to the keys j with 0 <= i - j < w, and to no other

    Stays beside 5.3b and 5.3e, which fail with it: they are hidden, and this one shows a student the numbers.
    """
    assert_own_attention(student, student.sliding_window_attention, forbids)
    for shape in ((3,), (2, 7), (2, 3, 10)):
        *leading, n = shape
        q, k, v = cases.tensor(*leading, n, 11), cases.tensor(*leading, n, 11), cases.tensor(*leading, n, 13)
        for window in (2, 3, 4):
            expected = reference.sliding_window_attention(*in_float64(q, k, v), window)
            assert_attention(student.sliding_window_attention(q, k, v, window), expected, q, k, v)


@number("5.3c")
@weight(1)
@pytest.mark.read("handout 5.3")
@pytest.mark.timeout(20)
def test_window_does_work_that_grows_linearly(student, cases, forbids):
    """A window has w keys a query, however long the sequence: the number of operations grows with n"""
    assert_own_attention(student, student.sliding_window_attention, forbids)
    attention, what = student.sliding_window_attention, "sliding_window_attention"
    measure = own_work(
        lambda lengths: student.measure(attention, lambda n: (*shapes(n, 64), 64), lengths), forbids, what
    )
    assert_linear_operations(measure, (1024, 2048, 4096), what)
    for shape in ((150, 11), (1, 1, 1024, 64)):  # the second as it was measured
        q, k, v = (cases.tensor(*shape) for _ in range(3))
        distance = torch.arange(shape[-2]).unsqueeze(-1) - torch.arange(shape[-2])
        expected, scaled = any_scale(student.sliding_window_attention, q, k, v, (distance >= 0) & (distance < 64))
        got = student.sliding_window_attention(q, k, v, 64)
        assert_attention(got, expected, scaled, k, v)
