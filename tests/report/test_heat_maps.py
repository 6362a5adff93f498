"""Heat maps: which matrix is shown, and where there is nothing to show."""

from __future__ import annotations

import re

import pytest
import torch

from autograder.report.heat_maps import heat_maps


def test_the_matrix_in_which_they_first_differ_is_shown_with_its_numbers() -> None:
    expected = torch.zeros(2, 3, 4)
    got = expected.clone()
    got[1, 2, 3] = -2.0
    picture = heat_maps(got, expected)
    assert "at [1]" in picture and picture.count("<rect") == 3 * 3 * 4
    assert re.findall(r"\[2, 3\] = ([^<]+)<", picture) == ["0", "-2", "-2"]


def test_what_is_no_number_is_black_and_infinity_has_a_colour() -> None:
    expected = torch.ones(2, 2)
    picture = heat_maps(torch.tensor([[float("nan"), float("inf")], [1.0, 1.0]]), expected)
    assert picture.count('fill="#000000"') == 2 and picture.count("inf</title>") == 2


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (torch.zeros(3), torch.ones(3)),
        (torch.zeros(2, 3), torch.ones(3, 2)),
        (torch.zeros(1, 3), torch.ones(1, 3)),
        (torch.zeros(99, 3), torch.ones(99, 3)),
        (torch.ones(2, 2), torch.ones(2, 2) + 1e-9),
        ([1.0], None),
    ],
)
def test_vectors_other_shapes_and_equal_values_have_no_picture(got: object, expected: object) -> None:
    assert heat_maps(got, expected) == ""
