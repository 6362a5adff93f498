"""Positions as algebra: every legal formula, in any convention, passes; what knows no positions does not."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from autograder.testing.cases import Cases
from autograder.testing.mismatch import Mismatch
from autograder.testing.numbers import assert_close
from support.extrapolation import (
    assert_lengths_kept,
    assert_order_matters,
    assert_relative,
    assert_shift_is_a_rotation,
    assert_turns,
    assert_waves,
    nearest_rotation,
    plain_attention,
    rope_bound,
    sinusoidal_bound,
)

DRAWS = 5  # in CI; the bounds were tried with hundreds
FAR = torch.tensor([0, 3, 65_537, 100_003])


def cases() -> Cases:
    return Cases(b"key", "positions")


# ------------------------------------------------------------------ legal frequencies, angles, codes and rotations


def by_power(d: int, base: float) -> Tensor:
    return base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)


def by_power_in_float32(d: int, base: float) -> Tensor:
    return 1.0 / base ** (torch.arange(0, d, 2).float() / d)


def by_exp_and_log(d: int, base: float) -> Tensor:
    return torch.exp(torch.arange(0, d, 2).float() * (-math.log(base) / d))


def by_exp2(d: int, base: float) -> Tensor:
    return torch.exp2(-torch.arange(d // 2).float() / (d // 2) * math.log2(base))


def by_steps(d: int, base: float) -> Tensor:
    return torch.cat([torch.ones(1), torch.full((d // 2 - 1,), base ** (-2 / d))]).cumprod(0)


Frequencies = Callable[[int, float], Tensor]
FREQUENCIES: tuple[Frequencies, ...] = (by_power, by_power_in_float32, by_exp_and_log, by_exp2, by_steps)


def sine_and_cosine(angles: Tensor) -> tuple[Tensor, Tensor]:
    return angles.sin(), angles.cos()


def shifted_sine(angles: Tensor) -> tuple[Tensor, Tensor]:
    return angles.sin(), (angles + math.pi / 2).sin()


def point_on_the_circle(angles: Tensor) -> tuple[Tensor, Tensor]:
    point = torch.polar(torch.ones_like(angles), angles)
    return point.imag, point.real


Circle = Callable[[Tensor], tuple[Tensor, Tensor]]
CIRCLES: tuple[Circle, ...] = (sine_and_cosine, shifted_sine, point_on_the_circle)


def turned_on_the_circle(
    positions: Tensor, d: int, base: float, frequencies: Frequencies, circle: Circle
) -> tuple[Tensor, Tensor]:
    return circle(positions.unsqueeze(-1) * frequencies(d, base))


def sinusoidal_with(frequencies: Frequencies, circle: Circle, halves: bool = False) -> Callable[..., Tensor]:
    def sinusoidal(positions: Tensor, d: int, base: float = 10_000.0) -> Tensor:
        waves = turned_on_the_circle(positions, d, base, frequencies, circle)
        return torch.cat(waves, dim=-1) if halves else torch.stack(waves, dim=-1).flatten(-2)

    return sinusoidal


def rope_with(
    frequencies: Frequencies, circle: Circle, halves: bool = False, sign: float = 1.0, tables_as_x: bool = False
) -> Callable[..., Tensor]:
    def rope(x: Tensor, positions: Tensor, base: float = 10_000.0) -> Tensor:
        d = x.shape[-1]
        sin, cos = turned_on_the_circle(positions, d, base, frequencies, circle)
        if tables_as_x:
            sin, cos = sin.to(x.dtype), cos.to(x.dtype)
        a, b = (x[..., : d // 2], x[..., d // 2 :]) if halves else (x[..., 0::2], x[..., 1::2])
        pair = (a * cos - sign * b * sin, sign * a * sin + b * cos)
        return (torch.cat(pair, dim=-1) if halves else torch.stack(pair, dim=-1).flatten(-2)).to(x.dtype)

    return rope


exact_sinusoidal = sinusoidal_with(by_power, sine_and_cosine)
exact_rope = rope_with(by_power, sine_and_cosine)
every_formula = [(frequencies, circle) for frequencies in FREQUENCIES for circle in CIRCLES]


def near_and_far(drawn: Cases) -> list[Tensor]:
    return [torch.arange(9), drawn.integers(9, low=-3000, high=3000), drawn.integers(9, low=60_000, high=100_004), FAR]


# ------------------------------------------------------------------ bounds


@pytest.mark.parametrize(("frequencies", "circle"), every_formula)
def test_every_legal_sinusoidal_passes_its_bound_and_is_a_wave(frequencies: Frequencies, circle: Circle) -> None:
    drawn, sinusoidal = cases(), sinusoidal_with(frequencies, circle)
    for _ in range(DRAWS):
        for positions in near_and_far(drawn):
            assert_waves(sinusoidal, positions)
            for d, base in [(2, 1e4), (6, 1e4), (10, 100.0), (64, 5e5)]:
                expected = exact_sinusoidal(positions, d, base).float()
                got = sinusoidal(positions, d, base)
                assert_close(got, expected, "codes", within=sinusoidal_bound(positions))


@pytest.mark.parametrize(("frequencies", "circle"), every_formula)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_legal_rope_passes_its_bound(dtype: torch.dtype, frequencies: Frequencies, circle: Circle) -> None:
    drawn = cases()
    for tables_as_x in (True, False):
        rope = rope_with(frequencies, circle, tables_as_x=tables_as_x)
        for _ in range(DRAWS):
            for positions in near_and_far(drawn):
                for d, base in [(2, 1e4), (6, 1e4), (10, 100.0)]:
                    x = drawn.tensor(len(positions), d, dtype=dtype)
                    expected, within = exact_rope(x.double(), positions, base), rope_bound(x, positions)
                    assert_close(rope(x, positions, base), expected, "rope", within=within, dtype=dtype)


@pytest.mark.parametrize(("frequencies", "circle"), every_formula)
def test_every_legal_rope_of_bfloat16_errs_by_less_than_a_tenth_at_100_000(
    frequencies: Frequencies, circle: Circle
) -> None:
    drawn, positions = cases(), torch.arange(99_997, 100_004)
    for tables_as_x in (True, False):
        rope = rope_with(frequencies, circle, tables_as_x=tables_as_x)
        for _ in range(DRAWS):
            x = drawn.tensor(7, 10, dtype=torch.bfloat16)
            assert_close(rope(x, positions), exact_rope(x.double(), positions), "rope", within=0.1)
            assert_close(rope(x, positions), rope(x.float(), positions), "rope", within=0.1)


def test_bfloat16_positions_err_by_more_than_a_tenth_at_100_000() -> None:
    x, positions = cases().tensor(7, 10, dtype=torch.bfloat16), torch.arange(99_997, 100_004)
    with pytest.raises(Mismatch):
        assert_close(exact_rope(x, positions.bfloat16()), exact_rope(x.double(), positions), "rope", within=0.1)


# ------------------------------------------------------------------ codes that are added


@pytest.mark.parametrize("halves", [False, True])
@pytest.mark.parametrize(("frequencies", "circle"), every_formula)
def test_a_shift_of_every_legal_sinusoidal_is_a_rotation(
    frequencies: Frequencies, circle: Circle, halves: bool
) -> None:
    drawn, sinusoidal = cases(), sinusoidal_with(frequencies, circle, halves)
    for d, shift in [(4, 1), (6, 13), (10, 4000)]:
        positions = torch.arange(3 * d) * 5 + drawn.integers(3 * d, low=0, high=5)
        before, after = sinusoidal(positions, d), sinusoidal(positions + shift, d)
        assert_shift_is_a_rotation(before, after, positions, shift, d)


def test_the_nearest_rotation_of_sinusoidal_codes_turns_backwards() -> None:
    positions, shift = torch.arange(12), 3
    rotation = nearest_rotation(exact_sinusoidal(positions, 4), exact_sinusoidal(positions + shift, 4))
    for pair, frequency in enumerate(by_power(4, 10_000.0).tolist()):
        cos, sin = math.cos(shift * frequency), math.sin(shift * frequency)
        block = rotation[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2]
        assert torch.allclose(block, torch.tensor([[cos, sin], [-sin, cos]], dtype=torch.float64), atol=1e-6)


def constant(positions: Tensor, d: int) -> Tensor:
    return torch.full((*positions.shape, d), 0.5**0.5)


def uniform(positions: Tensor, d: int) -> Tensor:
    return torch.full((*positions.shape, d), 1 / d)


def zeros(positions: Tensor, d: int) -> Tensor:
    return torch.zeros(*positions.shape, d)


def first_argument(positions: Tensor, d: int) -> Tensor:
    return positions


def stretched(positions: Tensor, d: int) -> Tensor:
    return exact_sinusoidal(positions, d, 10_000.0 * max(1.0, float(positions.max()) / 2000))


def squeezed(positions: Tensor, d: int) -> Tensor:
    return exact_sinusoidal(positions.clamp(max=2000), d)


@pytest.mark.parametrize("wrong", [constant, uniform, zeros, first_argument, stretched, squeezed])
def test_other_codes_are_not_shifted_by_a_rotation(wrong: Callable[[Tensor, int], Tensor]) -> None:
    positions = torch.arange(30) * 5
    with pytest.raises(Mismatch):
        assert_shift_is_a_rotation(wrong(positions, 10), wrong(positions + 4000, 10), positions, 4000, 10)


def places(positions: Tensor, d: int) -> Tensor:
    return exact_sinusoidal(torch.arange(positions.numel()).reshape(positions.shape), d)


@pytest.mark.parametrize("wrong", [constant, uniform, zeros, first_argument, squeezed, places])
def test_other_codes_are_no_waves(wrong: Callable[[Tensor, int], Tensor]) -> None:
    with pytest.raises(Mismatch):
        assert_waves(wrong, FAR)


def test_waves_come_in_any_shape_and_none_is_a_wave() -> None:
    for positions in (FAR, FAR.reshape(2, 2), FAR.int(), FAR[:0], FAR.reshape(4, 1)[:, :0]):
        assert_waves(exact_sinusoidal, positions)


# ------------------------------------------------------------------ rotations


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("halves", [False, True])
@pytest.mark.parametrize(("frequencies", "circle"), every_formula)
def test_every_legal_rope_turns_keeps_lengths_and_is_relative(
    frequencies: Frequencies, circle: Circle, halves: bool, sign: float
) -> None:
    drawn, rope = cases(), rope_with(frequencies, circle, halves, sign)
    some = torch.tensor([0, 1, 2, 5, 1, -3])
    assert_turns(rope, drawn, FAR)
    for _ in range(DRAWS):
        assert_turns(rope, drawn, drawn.integers(5, low=-1000, high=1000))
        for d in (2, 6, 10):
            assert_relative(rope, drawn.tensor(d), drawn.tensor(d), torch.cat([some, some - 40, 1000 - some]))
            x = drawn.tensor(2, 9, d)
            for positions in near_and_far(drawn)[:3]:
                assert_lengths_kept(x, rope(x, positions), positions)


def unturned(x: Tensor, positions: Tensor) -> Tensor:
    return x


def nothing(x: Tensor, positions: Tensor) -> Tensor:
    return torch.zeros_like(x)


def by_place(x: Tensor, positions: Tensor) -> Tensor:
    return exact_rope(x, torch.arange(x.shape[-2]))


def by_size(x: Tensor, positions: Tensor) -> Tensor:
    return exact_rope(x, positions.abs())


def with_code(x: Tensor, positions: Tensor) -> Tensor:
    return x + exact_sinusoidal(positions, x.shape[-1])


@pytest.mark.parametrize("wrong", [unturned, nothing, by_place, by_size, with_code])
def test_other_functions_do_not_turn(wrong: Callable[[Tensor, Tensor], Tensor]) -> None:
    with pytest.raises(Mismatch):
        assert_turns(wrong, cases(), torch.tensor([3, 0, -9, 3, 100]))


@pytest.mark.parametrize("wrong", [nothing, by_place, by_size, with_code])
def test_other_functions_know_more_than_differences(wrong: Callable[[Tensor, Tensor], Tensor]) -> None:
    drawn = cases()
    with pytest.raises(Mismatch, match="depends on m - n only"):
        assert_relative(wrong, drawn.tensor(6), drawn.tensor(6), torch.tensor([0, 1, 2, 5, 1, -3]))


def test_a_token_that_grew_is_told() -> None:
    x, positions = cases().tensor(3, 4), torch.arange(3)
    with pytest.raises(Mismatch, match="lengths of the tokens"):
        assert_lengths_kept(x, 1.001 * exact_rope(x, positions), positions)


# ------------------------------------------------------------------ attention


def outputs(x: Tensor, order: Tensor, code: Tensor) -> tuple[Tensor, Tensor]:
    before, after = x + code, x[order] + code
    return plain_attention(before, before, before), plain_attention(after, after, after)


def test_order_matters_to_attention_with_a_code_and_not_without() -> None:
    drawn = cases()
    x, order = drawn.tensor(7, 6), drawn.permutation(7)
    assert_order_matters(*outputs(x, order, exact_sinusoidal(torch.arange(7), 6)), order)
    for code in (torch.zeros(7, 6), constant(torch.arange(7), 6)):
        with pytest.raises(Mismatch, match="so it is without a code"):
            assert_order_matters(*outputs(x, order, code), order)


def test_plain_attention_is_the_formula() -> None:
    q, k, v = torch.zeros(1, 2), torch.eye(2), torch.tensor([[2.0], [4.0]])
    assert plain_attention(q, k, v).tolist() == [[3.0]]


def test_one_odd_width_costs_no_anchor_and_a_wrong_one_at_both_does() -> None:
    def fails_at_two(positions: Tensor, d: int) -> Tensor:
        if d == 2:
            raise IndexError
        return exact_sinusoidal(positions, d)

    assert_waves(fails_at_two, FAR, FAR.int())
    with pytest.raises(IndexError):
        assert_waves(fails_at_two, FAR, d=2)
    with pytest.raises(Mismatch):
        assert_waves(lambda positions, d: 2 * exact_sinusoidal(positions, d), FAR)
