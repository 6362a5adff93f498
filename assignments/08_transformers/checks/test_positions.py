"""Visible checks of part 3: what a code of the position is, and what it does to attention.

Bounds are rounding bounds, 2 x eps32 x (1 + |p|): `sinusoidal_bound`, and times the largest norm of a pair
`rope_bound`. Only the checks of the formulas (3.1a, 3.3a) hold the order of features, the direction and the
frequencies; the others are anchored by what holds for any of them.
"""

import re

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, weight

from autograder.testing.devices import assert_keeps_device
from autograder.testing.exceptions import must_raise
from autograder.testing.mismatch import Mismatch
from autograder.testing.modules import load_alike
from autograder.testing.numbers import assert_close
from support.extrapolation import (
    assert_lengths_kept,
    assert_order_matters,
    assert_relative,
    assert_shift_is_a_rotation,
    assert_turns,
    assert_waves,
    codes_of,
    plain_attention,
    rope_bound,
    sinusoidal_bound,
)


@number("3.1a")
@weight(1.5)
@pytest.mark.read("handout 3.1")
def test_sinusoidal_is_the_formula(student, reference):
    """Each pair of features is a sine and a cosine of the position, and each pair has a frequency of its own"""
    for n, d in [(3, 4), (2, 6), (5, 8), (50, 10), (7, 64)]:
        positions = torch.arange(n)
        got = student.sinusoidal(positions, d)
        assert_close(got, reference.sinusoidal(positions, d), "codes", within=sinusoidal_bound(positions))


@number("3.1b")
@weight(0.5)
@pytest.mark.read("handout 3.1")
def test_code_belongs_to_the_position(student):
    """A code belongs to a position, whatever stands beside it: in any order, repeated, with gaps, negative"""
    given = [0, 1, 2], [7], [3, 0, 11, 3], [-1, 4, -7, 2, 0], [40, -200, 40, 1000]
    assert_waves(student.sinusoidal, *map(torch.tensor, given))


@number("3.1c")
@weight(1)
@pytest.mark.read("handout 3.1")
def test_sinusoidal_far_beyond_any_seen(student):
    """A formula has no longest sequence: positions far beyond any seen have codes as good as the first ones"""
    far = [0, 127, 128, 256, 600], [0, 5000, 32_767, 32_769], [0, 3, 65_537, 100_003, -131_073, 250_007]
    given = [torch.tensor(positions) for positions in far]
    assert_waves(student.sinusoidal, *given, *(positions.int() for positions in given))


@number("3.1d")
@weight(1)
@pytest.mark.read("handout 3.1")
def test_shift_is_one_rotation_for_all_positions(student, cases):
    """Sinusoidal codes extrapolate by algebra: PE(p + k) = R(k) PE(p), with one rotation R(k) for all positions"""
    for d, first, shift in [(4, 0, 1), (6, 0, 13), (10, 0, 4000)]:
        positions = first + torch.arange(3 * d) * 5 + cases.integers(3 * d, low=0, high=5)
        before, after = student.sinusoidal(positions, d), student.sinusoidal(positions + shift, d)
        assert_shift_is_a_rotation(before, after, positions, shift, d)


@number("3.2a")
@weight(1)
@pytest.mark.read("handout 3.2")
def test_learned_code_is_a_row_of_the_table(student, reference, cases):
    """A learned code is a row of a table: the position says which"""
    for max_len, d in [(4, 3), (9, 5)]:
        alike = load_alike(student.LearnedPositions, reference.LearnedPositions, cases, max_len, d)
        for positions in ([0], [0, 1, 2], [3, 0, 3, 2, 1], [max_len - 1]):
            got = alike.module(torch.tensor(positions))
            expected = alike.oracle.state_dict()["table.weight"][positions]
            assert_close(got, expected, "codes", within=1e-6, dtype=alike.dtype)


@number("3.2b")
@weight(0.75)
@pytest.mark.read("handout 3.2")
def test_learned_positions_end_where_the_table_ends(student, reference, cases):
    """A table does not extrapolate: a position that it never had is an error, not some other position's code"""
    max_len, d = 6, 5
    alike = load_alike(student.LearnedPositions, reference.LearnedPositions, cases, max_len, d)
    codes = codes_of(alike.module(torch.arange(max_len)), (max_len, d))
    if float(torch.pdist(codes).min()) < 1e-3:
        raise Mismatch("codes", "another code for each position", "two positions with the same code")
    for positions in (
        [max_len],
        [0, 1, max_len, 2],
        [[3], [1000]],
        [-1],
        [[2, 0], [-max_len, 1]],
        [1, -1000],
        [1 << 32],
    ):
        must_raise(ValueError, alike.module, torch.tensor(positions), because="the table has rows 0 .. 5")
    must_raise(ValueError, alike.module, torch.tensor([1, max_len]).int(), because="the table has rows 0 .. 5")


@number("3.2e")
@weight(0.25)
@pytest.mark.read("handout 3.2")
def test_error_names_the_position(student, reference, cases):
    """An error helps: it says which position has no row, and which positions there are"""
    max_len, most = 6, 12  # numbers in a message: one that lists all there are says nothing
    alike = load_alike(student.LearnedPositions, reference.LearnedPositions, cases, max_len, 5)
    a, b, c, d, e = map(int, cases.integers(5, low=10, high=1000))
    for positions, outside in (([a], [a]), ([0, 3, b, 2], [b]), ([2, -c], [c]), ([d, 0, e], [d, e])):
        try:
            alike.module(torch.tensor(positions))
        except ValueError as error:
            named = {int(digits) for digits in re.findall(r"\d+", str(error))}
            if named.isdisjoint(outside) or named.isdisjoint((max_len - 1, max_len)) or len(named) > most:
                expected = (
                    f"one that names {' or '.join(map(str, outside))}, the rows 0 .. {max_len - 1}, and little else"
                )
                raise Mismatch("message of the ValueError", expected, repr(str(error)[:200])) from None
        else:
            raise Mismatch("error", f"ValueError for the positions {positions}", "none")


@number("3.3a")
@weight(1)
@pytest.mark.read("handout 3.3")
def test_rope_is_the_formula(student, reference, cases):
    """RoPE turns each pair of neighbouring features, one frequency a pair, by the position times that frequency"""
    for leading, n, d in [((), 2, 4), ((), 3, 8), ((2,), 5, 6), ((2, 3), 7, 10), ((3,), 50, 4)]:
        for dtype in (torch.float32, torch.float64):
            x, positions = cases.tensor(*leading, n, d, dtype=dtype), torch.arange(n)
            got = student.rope(x, positions)
            expected = reference.rope(x.double(), positions)
            assert_close(got, expected, "rope(x, positions)", within=rope_bound(x, positions), dtype=dtype)


@number("3.3b")
@weight(0.5)
@pytest.mark.read("handout 3.3")
def test_rope_keeps_lengths(student, cases):
    """RoPE is a rotation: it keeps every length, and at position 0 it changes nothing"""
    assert_turns(student.rope, cases, torch.tensor([1, 2, 40, 3, 2]))
    for d in (4, 10):
        x = cases.tensor(5, d)
        positions = torch.tensor([5, 0, 1, 300, 2])
        turned = student.rope(x, positions)
        assert_lengths_kept(x, turned, positions)
        nowhere = torch.zeros(1, dtype=torch.int64)
        still, within = x[..., 1, :], rope_bound(x, nowhere)
        assert_close(turned[..., 1, :], still, "the token at position 0", within=within)
        assert_close(student.rope(x, nowhere), x, "rope at position 0", within=within)


@number("3.3c")
@weight(1)
@pytest.mark.read("handout 3.3")
def test_inner_products_know_relative_positions_only(student, cases):
    """The inner product of a query at m and a key at n depends on m - n only: shift both, and it stays the same"""
    assert_turns(student.rope, cases, torch.tensor([3, 0, 9, 3, 100]))
    for d in (4, 6, 10):
        some = torch.tensor([0, 1, 2, 5, 1, -3])
        for positions in (torch.cat([some, some + 7]), torch.cat([some, some - 40, 1000 - some])):
            assert_relative(student.rope, cases.tensor(d), cases.tensor(d), positions)


@number("3.3i")
@weight(0.25)
@pytest.mark.read("handout 3.3")
def test_codes_are_made_where_positions_are(student, reference, cases):
    """Codes and rotations are made on the device of the positions: tried on torch's device meta, without a GPU"""
    positions, x = torch.tensor([3, 0, 9]), cases.tensor(3, 6)
    within = sinusoidal_bound(positions)
    assert_close(student.sinusoidal(positions, 6), reference.sinusoidal(positions, 6), "codes", within=within)
    assert_turns(student.rope, cases, positions)
    assert_keeps_device(student, student.sinusoidal, positions, 6)
    assert_keeps_device(student, student.rope, x, positions)


@number("3.4a")
@weight(0.75)
@pytest.mark.read("handout 3.4")
@pytest.mark.parametrize("code", ["sinusoidal", "learned", "rope"])
def test_code_puts_order_into_attention(student, reference, cases, code):
    """Without a code, attention over permuted tokens gives the same outputs, permuted; with a code it does not

    Stays though other checks catch all that it catches: it is the lecture's sentence on why positions are needed. (The
    attention is the grader's; a code with wrong numbers passes, as long as it tells positions apart.)
    """
    n, d = 7, 6
    x, order, places = cases.tensor(n, d), cases.permutation(n), torch.arange(n)
    if code == "rope":
        before, after = (codes_of(student.rope(tokens, places), (n, d), "rope") for tokens in (x, x[order]))
        assert_order_matters(plain_attention(before, before, x), plain_attention(after, after, x[order]), order)
        return
    if code == "sinusoidal":
        codes = codes_of(student.sinusoidal(places, d), (n, d))
    else:
        alike = load_alike(student.LearnedPositions, reference.LearnedPositions, cases, n, d)
        codes = codes_of(alike.module(places), (n, d))
    before, after = x + codes, x[order] + codes
    assert_order_matters(plain_attention(before, before, before), plain_attention(after, after, after), order)


@number("3.5a")
@weight(0)
@pytest.mark.read("handout 3.5")
def test_alibi_is_the_formula(student, reference):
    """Bonus: ALiBi takes from each score the distance times a slope, and each head has a slope of its own"""
    for heads, n_q, n_k in [(1, 1, 3), (2, 3, 3), (8, 5, 7), (6, 4, 9), (3, 5, 2)]:
        expected = reference.alibi_bias(heads, n_q, n_k)
        assert_close(student.alibi_bias(heads, n_q, n_k), expected, "bias", within=1e-6 * max(n_q, n_k))
