"""Six ordinary checks. `benchmarks/peers/six_checks.py` has them for other graders."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, weight


def close(got, expected):
    assert got.shape == expected.shape
    assert float((got.double() - expected).abs().max()) < 1e-5


@number("1.1")
@weight(1)
@pytest.mark.parametrize("shape", [(3,), (2, 5), (2, 3, 5)])
def test_softmax_is_the_formula(student, reference, cases, shape):
    """Softmax is exp(x) over its sum"""
    x = cases.tensor(*shape)
    close(student.softmax(x, -1), reference.softmax(x.double(), -1))


@number("1.2")
@weight(1)
def test_softmax_along_another_axis(student, reference, cases):
    """Softmax sums to 1 along the axis that is named"""
    x = cases.tensor(2, 3, 5)
    close(student.softmax(x, 1), reference.softmax(x.double(), 1))


@number("1.3")
@weight(1)
def test_softmax_of_large_scores(student, reference, cases):
    """Large scores are no danger"""
    x = cases.tensor(3, 5) * 1e4
    close(student.softmax(x, 1), reference.softmax(x.double(), 1))


@number("1.4")
@weight(1)
def test_attention_is_the_formula(student, reference, cases):
    """Attention averages values"""
    for q, k, v in cases.attention():
        close(student.attention(q, k, v), reference.attention(q.double(), k.double(), v.double()))


@number("1.5")
@weight(1)
def test_attention_forgets_the_order_of_keys(student, reference, cases):
    """Permuting keys with their values changes nothing"""
    q, k, v = cases.tensor(5, 11), cases.tensor(7, 11), cases.tensor(7, 13)
    order = cases.permutation(7)
    close(student.attention(q, k[order], v[order]), reference.attention(q.double(), k.double(), v.double()))


@number("1.6")
@weight(1)
def test_attention_keeps_its_dtype(student, reference, cases):
    """What goes in as float64 comes out as float64"""
    q, k, v = (cases.tensor(*shape, dtype=torch.float64) for shape in [(5, 11), (7, 11), (7, 13)])
    got = student.attention(q, k, v)
    assert got.dtype == torch.float64
    close(got, reference.attention(q, k, v))
