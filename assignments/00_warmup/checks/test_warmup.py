"""Visible checks of the warm-up: the formula, and large scores."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, weight

from autograder.testing.numbers import assert_close, softmax_bound


@number("0.1a")
@weight(4)
@pytest.mark.read("handout 0.1")
def test_softmax_is_the_formula(student, reference, cases):
    """Softmax is exp(x) divided by the sum of exp(x) along the axis that is named"""
    for shape, dim in [((3,), 0), ((2, 5), 1), ((2, 5), 0), ((2, 3, 5), 1), ((2, 3, 5), -1), ((2, 3, 5), -3)]:
        x = cases.tensor(*shape)
        got = student.softmax(x, dim)
        assert_close(got, reference.softmax(x.double(), dim), "softmax", within=softmax_bound(x), dtype=x.dtype)
    x = cases.tensor(4, 7, dtype=torch.float64)
    got = student.softmax(x, dim=0)
    assert_close(got, reference.softmax(x, 0), "softmax", within=softmax_bound(x), dtype=x.dtype)


@number("0.1b")
@weight(3)
@pytest.mark.read("handout 0.1")
def test_softmax_of_large_scores(student, reference, cases):
    """Adding a number to every score changes nothing, so large scores are no danger"""
    shifted = [cases.tensor(3, 5) + shift for shift in (100.0, -200.0, 10_000.0)]
    for x in (*shifted, cases.tensor(3, 5, scale=100.0)):  # far from 0, and far apart
        got = student.softmax(x, 1)
        assert_close(got, reference.softmax(x.double(), 1), "softmax", within=softmax_bound(x), dtype=x.dtype)
