"""Hidden checks: students never get this file. When one fails they read its property and the likely cause, no numbers.

Hide what would be an answer if it were seen, and say in the handout what it holds students to.
"""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from autograder.testing.numbers import assert_close, rounding
from autograder.testing.purity import assert_pure


@number("1.1b")
@weight(2)
@visibility("hidden")
@pytest.mark.read("handout 1.1")
def test_rows_of_zeros_and_of_any_size(student, reference, cases):
    """Each row is normalised by itself, and a row of zeros stays one"""
    x = cases.tensor(4, 5)
    x[1] = 0.0
    x[2] *= 1000.0
    expected = reference.rms_norm(x.double())
    bound = rounding(x.dtype) * (x.shape[-1] + 4) * float(expected.abs().max())
    # `observe` gives the value, the arguments as they are after the call, and the global states that it changed.
    seen = student.observe(student.rms_norm, x)
    assert_close(seen.value, expected, "rms_norm", within=bound, dtype=x.dtype)
    assert_pure(seen, (x,))
