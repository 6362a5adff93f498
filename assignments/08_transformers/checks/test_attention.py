"""Visible checks of part 2: attention."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, weight

from autograder.testing.numbers import assert_close, attention_bounds, parts_of, softmax_bound


@number("2.1")
@weight(1)
@pytest.mark.read("handout 2.1")
def test_softmax_is_the_formula(student, reference, cases):
    """Softmax is exp(x) divided by the sum of exp(x) along the axis that is named"""
    for shape, dim in [((3,), 0), ((2, 5), 1), ((2, 5), 0), ((2, 3, 5), 1), ((2, 3, 5), -1), ((2, 3, 5), -3)]:
        x = cases.tensor(*shape)
        got = student.softmax(x, dim)
        assert_close(got, reference.softmax(x.double(), dim), "softmax", within=softmax_bound(x), dtype=x.dtype)


@number("2.2")
@weight(1)
@pytest.mark.read("handout 2.1")
def test_softmax_of_large_scores(student, reference, cases):
    """Adding a number to every score changes nothing, so large scores are no danger"""
    for shift in (100.0, -200.0, 10_000.0):
        x = cases.tensor(3, 5) + shift
        got = student.softmax(x, 1)
        assert_close(got, reference.softmax(x.double(), 1), "softmax", within=softmax_bound(x), dtype=x.dtype)


@number("2.4")
@weight(2)
@pytest.mark.read("handout 2.2")
def test_attention_with_loops(student, reference, cases):
    """Each output is an average of the values, weighted by how well its query matches each key"""
    for q, k, v in cases.attention(most_axes=2):
        got = student.attention_with_loops(q, k, v)
        expected = reference.attention_with_loops(q.double(), k.double(), v.double())
        within, _ = attention_bounds(q, k, v)
        assert_close(got, expected, "out", within=within, dtype=q.dtype)


@number("2.5")
@weight(4)
@pytest.mark.read("handout 2.3")
def test_attention_is_the_formula(student, reference, cases):
    """Attention is softmax(Q K^T / sqrt(d_k)) V, for any number of leading axes"""
    for q, k, v in cases.attention():
        out, weights = parts_of(student.scaled_dot_product_attention(q, k, v), "out", "weights")
        expected_out, expected_weights = reference.scaled_dot_product_attention(q.double(), k.double(), v.double())
        within_out, within_weights = attention_bounds(q, k, v)
        assert_close(weights, expected_weights, "weights", within=within_weights, dtype=q.dtype)
        assert_close(out, expected_out, "out", within=within_out, dtype=q.dtype)
