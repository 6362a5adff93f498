"""Visible checks of part 5: exact attention in chunks, and how its memory grows.

Oracles are the reference in float64, and torch's own attention where memory is measured; bounds are those of attention
(`attention_bounds`). Memory is judged on calls whose values are compared: by the allocation model and, where it is
kept, by the kernel's account. Checks of something else use equal widths and chunks that divide n.
"""

from dataclasses import replace

import pytest
from gradescope_utils.autograder_utils.decorators import number, weight

from autograder.testing.gradients import assert_gradients, vjp
from autograder.testing.memory import assert_linear_memory, assert_linear_operations, weigh
from support.efficient import (
    NAMES,
    assert_attention,
    assert_pulled_back,
    assert_rows,
    in_float64,
    measuring,
    slips_of,
    slips_of_chunks,
    some_rows,
    with_slips,
)

# leading axes, n_q, n_k, d_k, d_v, chunks
FORMS = {
    "plain": [((), 4, 4, 3, 3, (2, 4)), ((2,), 8, 8, 11, 11, (1, 2, 8))],
    "one token": [((), 1, 1, 3, 3, (1,)), ((2,), 1, 6, 5, 5, (1,)), ((2,), 6, 1, 5, 5, (1,))],
    "values of another width": [((), 4, 4, 3, 5, (2,)), ((2,), 6, 6, 7, 4, (2, 6)), ((2,), 6, 6, 1, 2, (3,))],
    "a shorter last chunk": [
        ((), 5, 7, 4, 4, (2, 3)),
        ((2,), 7, 5, 11, 11, (3, 4, 5, 7, 100)),
        ((), 1, 6, 5, 5, (2, 4)),
    ],
    "other leading axes": [((1,), 4, 4, 3, 3, (2,)), ((2, 3), 4, 6, 5, 5, (2,)), ((2, 1, 3), 4, 4, 5, 5, (2,))],
}
CAUSAL = {
    "as many keys": [((2,), 6, 6, 11, 11, (1, 2, 3, 6))],
    "more keys": [((2,), 4, 6, 11, 11, (1, 2)), ((), 1, 4, 5, 5, (1,))],
    "empty rows": [((2,), 6, 4, 11, 11, (1, 2)), ((), 4, 1, 5, 5, (1,))],
    "a shorter last chunk": [
        ((2,), 7, 7, 11, 11, (2, 3, 4)),
        ((2, 3), 5, 8, 4, 4, (3, 4, 100)),
        ((2,), 6, 4, 5, 5, (4, 100)),
    ],
}


def drawn(cases, forms):
    """q, k, v and a chunk, of each form."""
    for leading, n_q, n_k, d_k, d_v, chunks in forms:
        q, k, v = cases.tensor(*leading, n_q, d_k), cases.tensor(*leading, n_k, d_k), cases.tensor(*leading, n_k, d_v)
        for chunk in chunks:
            yield q, k, v, chunk


@number("5.1a")
@weight(1.5)
@pytest.mark.read("handout 5.1")
@pytest.mark.parametrize("form", FORMS)
def test_chunks_change_nothing(student, reference, cases, form):
    """Attention in chunks is attention: chunks of any size, dividing n or not, 1 or more than n

    Stays though others catch all that it catches: it is the exercise itself, and it shows a student the numbers.
    """
    for q, k, v, chunk in drawn(cases, FORMS[form]):
        expected = reference.chunked_attention(*in_float64(q, k, v), 100)
        assert_attention(student.chunked_attention(q, k, v, chunk), expected, q, k, v)


@number("5.1b")
@weight(1)
@pytest.mark.read("handout 5.1")
@pytest.mark.parametrize("form", CAUSAL)
def test_causal_chunks(student, reference, cases, form):
    """Causal: the last query is aligned with the last key, whatever the chunks; who sees nothing gets 0

    Stays beside 5.1d, which fails with it by gradients: that one is hidden, and this one shows a student the numbers.
    """
    slips = slips_of_chunks(student.chunked_attention)
    oracle = with_slips(reference.chunked_attention, slips, replace(slips, least=0))
    for q, k, v, chunk in drawn(cases, CAUSAL[form]):
        expected = oracle(*in_float64(q, k, v), 100, causal=True)
        assert_attention(student.chunked_attention(q, k, v, chunk, causal=True), expected, q, k, v)


@number("5.1e")
@weight(1)
@pytest.mark.read("handout 5.1")
@pytest.mark.timeout(30)
def test_memory_of_chunks_grows_linearly(student, cases, forbids):
    """An average can be kept up to date, so attention needs no n x n scores: memory grows with n

    Stays beside 5.1f, which fails with it: that one is hidden, and this one shows a student the table.
    """
    attention, what = student.chunked_attention, "chunked_attention"
    slips = slips_of(lambda q, k, v: attention(q, k, v, 4), 8)
    causal = slips_of(lambda q, k, v: attention(q, k, v, 4, True), 8, least=0)
    assert_linear_memory(measuring(student, attention, cases, slips, forbids, 64), 64, what)
    assert_linear_memory(measuring(student, attention, cases, causal, forbids, 64, True, axes=(2,)), 64, what)
    q, k, v = (4 * cases.tensor(2048, 64), cases.tensor(2048, 64), cases.tensor(2048, 64))
    for warm in (256, 256):
        attention(q[:warm], k[:warm], v[:warm], 256)
    got = weigh(student, lambda: attention(q, k, v, 256), 20, what)
    assert_rows(got, q, k, v, slips, some_rows(cases, 2048))


@number("5.2a")
@weight(1)
@pytest.mark.read("handout 5.2")
@pytest.mark.parametrize("form", [*FORMS, *(f"causal, {form}" for form in CAUSAL)])
def test_flash_attention_is_attention(student, reference, cases, form):
    """Flash attention is attention: the same numbers, causal or not, whatever the chunks

    Stays beside 5.2b and 5.2c: they fail with it by gradients, and this one tells a student that forward is wrong.
    """
    causal = form not in FORMS
    for q, k, v, chunk in drawn(cases, CAUSAL[form.partition(", ")[2]] if causal else FORMS[form]):
        expected = reference.flash_attention(*in_float64(q, k, v), 100, causal=causal)
        assert_attention(student.flash_attention(q, k, v, chunk, causal=causal), expected, q, k, v)


@number("5.2b")
@weight(1.25)
@pytest.mark.read("handout 5.2")
@pytest.mark.parametrize("form", FORMS)
def test_gradients_of_flash_attention(student, reference, cases, form):
    """Weights that were thrown away can be computed again: the gradients are those of attention

    Stays beside 5.2c, which fails with it: that one is hidden and causal, and this one shows a student the numbers.
    """
    slips = slips_of_chunks(student.flash_attention)
    oracle = with_slips(reference.flash_attention, slips, replace(slips, least=0))
    for q, k, v, chunk in drawn(cases, FORMS[form]):
        cotangent = cases.tensor(*q.shape[:-1], v.shape[-1])
        expected = vjp(oracle, (*in_float64(q, k, v), 100), (cotangent.double(),))
        own = vjp(oracle, (q, k, v, 2), (cotangent,))
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
    attention, what = student.flash_attention, "flash_attention in training"
    slips = slips_of(lambda q, k, v: attention(q, k, v, 4), 8)
    causal = slips_of(lambda q, k, v: attention(q, k, v, 4, True), 8, least=0)
    for each, *rest in ((slips, 64), (causal, 64, True)):
        measure = measuring(student, attention, cases, each, forbids, *rest, grad=True)
        assert_linear_memory(measure, 64, what, training=True)
    q, k, v = (2 * cases.tensor(2048, 64), cases.tensor(2048, 64), cases.tensor(2048, 64))
    cotangent = cases.tensor(2048, 64)
    for warm in (256, 256):
        student.vjp(attention, (q[:warm], k[:warm], v[:warm], 256), (cotangent[:warm],))
    got = weigh(student, lambda: student.vjp(attention, (q, k, v, 256), (cotangent,)), 60, what)
    assert_rows(got.value, q, k, v, slips, some_rows(cases, 2048))
    assert_pulled_back(got.args, q, k, v, cotangent, slips)


@number("5.3a")
@weight(1.5)
@pytest.mark.read("handout 5.3")
@pytest.mark.parametrize("window", [2, 3, 4])
def test_window_is_attention_to_the_latest_keys(student, reference, cases, window):
    """With a window w, query i attends to the keys j with 0 <= i - j < w, and to no other

    Stays beside 5.3b and 5.3e, which fail with it: they are hidden, and this one shows a student the numbers.
    """
    for *leading, n, d in ((5, 3), (2, 7, 11), (2, 3, 10, 11)):
        q, k, v = (cases.tensor(*leading, n, d) for _ in range(3))
        expected = reference.sliding_window_attention(*in_float64(q, k, v), window)
        assert_attention(student.sliding_window_attention(q, k, v, window), expected, q, k, v)


@number("5.3c")
@weight(1)
@pytest.mark.read("handout 5.3")
@pytest.mark.timeout(20)
def test_window_does_work_that_grows_linearly(student, cases, forbids):
    """A window has w keys a query, however long the sequence: the number of operations grows with n"""
    attention, what = student.sliding_window_attention, "sliding_window_attention"
    slips = slips_of(lambda q, k, v: attention(q, k, v, 4), 4, least=0)
    at_64 = slips_with(slips, slips.most + 60)
    assert_linear_operations(measuring(student, attention, cases, at_64, forbids, 64), (1024, 2048, 4096), what)


def slips_with(slips, most):
    """The same slips where a query may attend to `most` keys."""
    return type(slips)(slips.power, slips.least, most)
