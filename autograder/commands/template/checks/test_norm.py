"""Visible checks: students get this file as it stands, and `softmark check` runs it on their machine."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, weight

from autograder.testing.numbers import assert_close, rounding


def bound(x, expected):
    """What rounding may cost: d squares and their sum, then a mean, a root and a division, each relative to y.

    A bound from sizes and the dtype lets every right formula pass; a tolerance tuned to one's own solution does not.
    """
    return rounding(x.dtype) * (x.shape[-1] + 4) * float(expected.abs().max())


@number("1.1a")
@weight(3)
@pytest.mark.read("handout 1.1")
def test_each_row_is_divided_by_its_root_mean_square(student, reference, cases):
    """RMSNorm divides each row by the square root of its mean square"""
    # The line above is what students read. `student` runs their code in another process; `reference` is your solution,
    # called in float64 for an oracle; `cases` draws the same numbers for every student, from small to large. Sizes
    # differ from each other, so that exchanged axes cannot pass.
    for shape, eps in [((3,), 1e-6), ((2, 5), 1e-6), ((2, 3, 7), 0.5)]:
        x = cases.tensor(*shape)
        expected = reference.rms_norm(x.double(), eps)
        assert_close(student.rms_norm(x, eps), expected, "rms_norm", within=bound(x, expected), dtype=x.dtype)
    x = cases.tensor(2, 5, dtype=torch.float64)
    expected = reference.rms_norm(x)
    assert_close(student.rms_norm(x), expected, "rms_norm", within=bound(x, expected), dtype=x.dtype)
