"""The slips of an attention are told apart, so that its oracle gets the same."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from support.efficient import Slips, slips_of


def attention(slips: Slips) -> Any:
    return lambda q, k, v: slips.attention(q, k, v, torch.arange(q.shape[-2]))


@pytest.mark.parametrize("power", [0.0, 1.0, -1.0])
@pytest.mark.parametrize(
    ("least", "n_q"), [(-math.inf, 8), (0, 8), (1, 8), (-1, 8), (0, 7), (1, 7)], ids=lambda value: f"{value:g}"
)
def test_a_wrong_scale_and_alignment_are_found(power: float, least: float, n_q: int) -> None:
    asked = 0 if least != -math.inf else least
    found = slips_of(attention(Slips(power, least)), 8, least=asked, n_q=n_q)
    assert (found.power, found.least) == (power if least != 1 else 0.0, least)


@pytest.mark.parametrize("most", [3, 4, 5, math.inf])
def test_the_width_of_a_window_is_found(most: float) -> None:
    assert slips_of(attention(Slips(0.0, 0, most)), 4, least=0).most == most


@pytest.mark.parametrize("odd", [None, 3.0, torch.ones(3), torch.full((8, 64), float("nan"))])
def test_what_is_no_attention_is_taken_for_a_right_one(odd: Tensor | float | None) -> None:
    assert slips_of(lambda q, k, v: odd, 8) == Slips()
