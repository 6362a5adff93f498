"""Hidden checks of the warm-up: rows far apart, half precision, the argument afterwards."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from autograder.testing.numbers import assert_close, softmax_bound
from autograder.testing.purity import assert_pure


@number("0.1c")
@weight(2)
@visibility("hidden")
@pytest.mark.read("handout 0.1")
def test_softmax_of_rows_far_apart(student, reference, cases):
    """Each row is normalised by its own largest score, and half precision is no danger"""
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        offsets = torch.tensor([[0.0], [60.0], [-60.0]]) if dtype == torch.float32 else torch.zeros(3, 1)
        x = (cases.tensor(3, 5, scale=0.25) + offsets).to(dtype)
        got = student.softmax(x, 1)
        assert_close(got, reference.softmax(x.double(), 1), "softmax", within=softmax_bound(x), dtype=dtype)


@number("0.1d")
@weight(1)
@visibility("hidden")
@pytest.mark.read("handout 0.1")
def test_softmax_leaves_its_argument_alone(student, reference, cases):
    """A function answers and leaves its argument as it was"""
    x = cases.tensor(3, 5)
    seen = student.observe(student.softmax, x, 1)
    assert_close(seen.value, reference.softmax(x.double(), 1), "softmax", within=softmax_bound(x), dtype=x.dtype)
    assert_pure(seen, (x, 1))
