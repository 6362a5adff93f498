"""Hidden checks of part 3: other bases, far positions, half precision, gradients, shapes that are easily forgotten.

Bounds and anchors as in the visible checks. In bfloat16 a feature may err by 0.1 for N(0, 1) input: right formulas err
by 0.015 to 0.035, positions rounded to bfloat16 by several units.
"""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from autograder.testing.exceptions import must_raise
from autograder.testing.gradients import assert_arrives
from autograder.testing.mismatch import Mismatch
from autograder.testing.modules import load_alike
from autograder.testing.numbers import assert_close, assert_shape, assert_tensor
from autograder.testing.purity import assert_pure
from autograder.testing.symmetry import assert_equivariant
from support.extrapolation import (
    assert_turns,
    assert_waves,
    codes_of,
    plain_attention,
    rope_bound,
    sinusoidal_bound,
)

BASES = (10_000.0, 100.0, 500_000.0)
NO_PAIRS = "an odd number of features is no pairs"


def in_order_of_size(got, shape, what):
    """The features of each token sorted, so that which of them are a pair plays no part."""
    return codes_of(got, shape, what).sort(dim=-1).values


@number("3.1e")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 3.1")
def test_base_of_sinusoidal(student, reference):
    """The base says how slow the slowest waves are

    Features are compared in order of size: 3.1a asks where they stand.
    """
    positions, d = torch.arange(9), 6
    for base in BASES:
        got = in_order_of_size(student.sinusoidal(positions, d, base), (9, d), "codes")
        expected = reference.sinusoidal(positions, d, base).sort(dim=-1).values
        assert_close(got, expected, f"codes with base {base:g}, sorted", within=sinusoidal_bound(positions))


@number("3.1f")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 3.1")
def test_sinusoidal_of_any_shape(student):
    """Positions come in any shape, and are left as they were; an odd number of features is an error"""
    drawn = torch.tensor([[4, 0, 9, 1, 1], [2, 3, 100, 7, 5]])
    layouts = drawn.T, drawn[:, ::2], drawn[0].expand(3, 5)
    for positions in (
        *(drawn[0, :1], drawn, drawn.int(), drawn.reshape(5, 1, 2), drawn[:, :0], drawn[0, :0]),
        *layouts,
    ):
        assert_waves(student.sinusoidal, positions)
        assert_shape(assert_tensor(student.sinusoidal(positions, 6), "codes"), (*positions.shape, 6), "codes")
        seen = student.observe(student.sinusoidal, positions, 6)
        assert_pure(seen, (positions, 6))
    assert_waves(student.sinusoidal, drawn, d=2)
    for d in (1, 3, 7):
        for positions in (drawn[0], drawn.int(), drawn[0, :0]):
            must_raise(ValueError, student.sinusoidal, positions, d, because=NO_PAIRS)


@number("3.2c")
@weight(1)
@visibility("hidden")
@pytest.mark.read("handout 3.2")
def test_only_rows_that_were_used_learn(student, reference, cases):
    """Exactly the rows that were used get a gradient: a position never trained on stays as it was initialised"""
    max_len, d = 7, 5
    for used in ([0, 1, 2], [3, 0, 3, 5], [6]):
        alike = load_alike(student.LearnedPositions, reference.LearnedPositions, cases, max_len, d)
        cotangent = cases.tensor(d, len(used)).T.to(alike.dtype)
        again = (torch.tensor([6, 5, 5, 0]),)  # called before the first call learns, and not learning itself
        pulled = student.vjp(alike.module, (torch.tensor(used),), (cotangent,), then=again)
        gradient = assert_arrives(pulled.parameters.get("table.weight"), "table.weight")
        assert_shape(gradient, (max_len, d), "gradient by table.weight")
        learning = gradient.abs().amax(dim=-1) > 1e-6
        rows = {int(row) for row in learning.nonzero()}
        if rows != set(used):
            wanted, got = (", ".join(map(str, sorted(each))) or "none" for each in (set(used), rows))
            raise Mismatch("gradient by table.weight", f"a gradient in rows {wanted} only", f"one in rows {got}")
        arrives = torch.zeros(max_len, d, dtype=torch.float64).index_add(0, torch.tensor(used), cotangent.double())
        arrives *= float(
            (gradient.double() * arrives).sum() / arrives.square().sum()
        )  # codes that are scaled cost 3.2a
        within = 1e-5 * float(arrives.abs().max())  # a sum of two at most
        assert_close(gradient, arrives, "gradient by table.weight", within=within)


@number("3.2d")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 3.2")
def test_learned_positions_of_any_shape(student, reference, cases):
    """Positions come in any shape: one code for each, for a batch, for one position and for none"""
    max_len, d = 9, 5
    alike = load_alike(student.LearnedPositions, reference.LearnedPositions, cases, max_len, d)
    drawn = torch.tensor([[4, 0, 8, 1], [2, 3, 1, 7]])
    shapes = drawn[0, :1], drawn, drawn.int(), drawn.unsqueeze(1), drawn[:, :0], drawn[0, :0]
    for positions in (*shapes, drawn.T, drawn[:, ::2], drawn[0].expand(3, 4)):
        seen = student.observe(alike.module, positions)
        codes = codes_of(seen.value, (*positions.shape, d))
        one_by_one = [alike.module(position.reshape(1)) for position in positions.flatten()]
        expected = torch.stack([codes_of(code, (1, d)) for code in one_by_one] or [torch.zeros(0, 1, d)])
        assert_close(codes, expected.reshape(*positions.shape, d), "codes", within=1e-6)
        assert_pure(seen, (positions,))
    if float(torch.pdist(codes_of(alike.module(torch.arange(max_len)), (max_len, d))).min()) < 1e-3:
        raise Mismatch("codes", "another code for each position", "two positions with the same code")
    narrow = codes_of(alike.module(drawn), (*drawn.shape, d))
    assert_close(alike.module.double()(drawn), narrow, "codes in float64", within=1e-6, dtype=torch.float64)


@number("3.3d")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 3.3")
def test_rope_positions_of_a_batch(student, cases):
    """Each sequence of a batch has positions of its own, and all heads of it share them"""
    every = torch.tensor([[3, 0, 7, 7, 100], [20, 21, 5, 6, 0]])
    assert_turns(student.rope, cases, *every)
    for heads, n, d in [
        ((), 5, 4),
        ((1,), 5, 4),
        ((3,), 5, 6),
        ((4,), 5, 10),
        ((2,), 2, 4),
        ((3,), 1, 4),
        ((2, 3), 5, 4),
    ]:
        x, positions = cases.tensor(2, *heads, n, d), every[:, :n]
        given = positions.reshape(2, *(1 for _ in heads), n)  # (B, n) for (B, n, d), (B, 1, n) for (B, heads, n, d)
        got = codes_of(student.rope(x, given), tuple(x.shape), "rope(x, positions)")
        rows = [(x[b].reshape(-1, n, d), positions[b]) for b in range(2)]
        alone = [codes_of(student.rope(row, at), (n, d), "rope(x, positions)") for xs, at in rows for row in xs]
        expected = torch.stack(alone).reshape(x.shape)
        assert_close(got, expected, "rope of a batch, row by row", within=4 * rope_bound(x, positions))
    x = cases.tensor(2, 3, 5, 4)
    for axes in ((2, 3, 5), (3, 5), (3, 1)):  # what broadcasts may differ between heads, too
        given = cases.integers(*axes, low=0, high=99)
        got = codes_of(student.rope(x, given), tuple(x.shape), "rope(x, positions)")
        rows = zip(x.reshape(6, 5, 4), given.expand(2, 3, 5).reshape(6, 5), strict=True)
        alone = [codes_of(student.rope(row, at), (5, 4), "rope(x, positions)") for row, at in rows]
        within = 4 * rope_bound(x, given)
        assert_close(got, torch.stack(alone).reshape(x.shape), "rope of a batch, row by row", within=within)
    got = codes_of(student.rope(x, every[:1, 3:4]), tuple(x.shape), "rope(x, positions)")
    expected = codes_of(student.rope(x, every[:1, 3:4].expand(2, 3, 5)), tuple(x.shape), "rope(x, positions)")
    assert_close(got, expected, "rope with one position for all tokens", within=4 * rope_bound(x, every))


@number("3.3e")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 3.3")
def test_base_of_rope(student, reference, cases):
    """The base says how slowly the slowest pair turns

    All features of a token are equal, and they are compared in order of size afterwards, so that neither pairing nor
    direction plays a part: 3.3a asks for those.
    """
    d, positions = 6, torch.arange(9)
    for base in BASES:
        x = cases.uniform(9, 1, low=0.5, high=2.0).repeat(1, d)
        got = in_order_of_size(student.rope(x, positions, base), (9, d), "rope(x, positions)")
        expected = reference.rope(x.double(), positions, base).sort(dim=-1).values
        within = rope_bound(x, positions)
        assert_close(got, expected, f"rope of equal features with base {base:g}, sorted", within=within)


@number("3.3f")
@weight(0.75)
@visibility("hidden")
@pytest.mark.read("handout 3.3")
def test_rope_far_beyond_any_seen(student, cases):
    """RoPE has no longest sequence, and half precision is no danger: it is the angle that must be precise

    Turning by m and then by k is turning by m + k, wherever that is.
    """
    far = torch.tensor([0, 3, 127, 128, 256, 600, 5000, 32_769, 65_537, 100_003, -131_073, 250_007])
    assert_turns(student.rope, cases, far, far.int())
    for d, m, k in [(4, 2000, 100), (10, 5000, 3), (10, 100_000, 3)]:
        x, far = cases.tensor(5, d), torch.arange(5) + m
        there = codes_of(student.rope(x, far), (5, d), "rope(x, positions)").to(x.dtype)
        further = student.rope(there, torch.full((5,), k))
        within = 4 * rope_bound(x, far + k) * 2**0.5
        at_once = codes_of(student.rope(x, far + k), (5, d), "rope(x, positions)")
        assert_close(further, at_once, f"rope by {m} and then by {k}, or by both at once", within=within)
    for d in (4, 10):
        x, far = cases.tensor(7, d, dtype=torch.bfloat16), torch.arange(99_997, 100_004)
        wide = codes_of(student.rope(x.float(), far), (7, d), "rope(x, positions)")
        got = student.rope(x, far)
        assert_close(got, wide, "rope of bfloat16 as rope of float32", within=0.1, dtype=torch.bfloat16)


@number("3.3g")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 3.3")
def test_gradient_is_turned_back(student, cases):
    """Gradients flow through RoPE, turned back by the same angle, and its arguments stay as they were"""
    assert_turns(student.rope, cases, torch.tensor([1, 2, 3]))
    positions = torch.tensor([3, 1, 0, 12, 100])
    halves = cases.tensor(5, 4, dtype=torch.bfloat16), cases.tensor(2, 5, 6, dtype=torch.bfloat16)
    for x in (cases.tensor(5, 4), cases.tensor(2, 5, 6), cases.tensor(5, 4, dtype=torch.float64), *halves):
        seen = student.observe(student.rope, x, positions)
        codes_of(seen.value, tuple(x.shape), "rope(x, positions)")
        assert_pure(seen, (x, positions))
    for dtype in (torch.float32, torch.float64):
        plain, wide, long, one = (cases.tensor(*shape, dtype=dtype) for shape in ((5, 4), (5, 8), (2, 6, 5), (4,)))
        for each in (plain, wide, long, one):
            each[each == 0] = 0.125  # radius and angle are a right formula, too, and have no gradient at (0, 0)
        for x in (plain, long.mT, wide[:, ::2], one.expand(5, 4)):
            turned = codes_of(student.rope(x, positions), tuple(x.shape), "rope(x, positions)")
            x = x.clone() if 0 in x.stride() else x  # nobody learns an expanded tensor
            cotangent = cases.tensor(*x.shape[:-2], x.shape[-1], 5, dtype=dtype).mT
            pulled = student.vjp(student.rope, (x, positions), (cotangent,), then=(2 * x, positions + 1))
            gradient = assert_arrives(pulled.args[0], "x").double()
            assert_shape(gradient, tuple(x.shape), "gradient by x")
            lengths = cotangent.double().norm(dim=-1)
            within = 2 * sinusoidal_bound(positions) * x.shape[-1] * float(lengths.max())
            assert_close(gradient.norm(dim=-1), lengths, "lengths of the gradient by x", within=within)
            within *= float(x.double().norm(dim=-1).max())
            expected = (cotangent * turned).sum(-1)
            assert_close((gradient * x).sum(-1), expected, "<gradient by x, x>, token by token", within=within)


@number("3.3h")
@weight(0.5)
@visibility("hidden")
@pytest.mark.read("handout 3.3")
def test_rope_of_no_token_and_of_no_pairs(student, cases):
    """RoPE serves one token and none, one pair, positions of 32 bits; an odd number of features is an error"""
    positions = torch.tensor([9, 2, 2, 0, 30])
    assert_turns(student.rope, cases, positions, d=2)
    for n, dtype in [(1, torch.int64), (5, torch.int32), (0, torch.int64)]:
        given = positions[:n].to(dtype)
        if n:
            assert_turns(student.rope, cases, given)
        for leading in ((), (2,)):
            x = cases.tensor(*leading, n, 4)
            codes_of(student.rope(x, given), tuple(x.shape), "rope(x, positions)")
    for leading, n, d in (((), 5, 1), ((), 5, 3), ((2, 3), 5, 7), ((2,), 0, 3)):
        must_raise(ValueError, student.rope, cases.tensor(*leading, n, d), positions[:n], because=NO_PAIRS)


@number("3.4b")
@weight(0.25)
@visibility("hidden")
@pytest.mark.read("handout 3.4")
def test_positions_travel_with_their_tokens(student, cases):
    """Permuting tokens together with their RoPE positions only permutes the outputs: positions belong to tokens

    Stays though other checks catch all that it catches: it is the other half of 3.4a.
    """
    n, d = 7, 6
    positions, order = torch.tensor([0, 1, 2, 3, 9, 10, 30]), cases.permutation(7)
    assert_turns(student.rope, cases, positions[order])
    x, y, v = cases.tensor(n, d), cases.tensor(n, d), cases.tensor(n, d)
    q, k = (codes_of(student.rope(each, positions), (n, d), "rope(x, positions)") for each in (x, y))
    moved = [codes_of(student.rope(each[order], positions[order]), (n, d), "rope(x, positions)") for each in (x, y)]
    # A score errs by the bound times |q| |k| twice, an output by that times the largest value.
    size = float(x.norm(dim=-1).max() * y.norm(dim=-1).max() * v.abs().max())
    out, after = plain_attention(q, k, v), plain_attention(*moved, v[order])
    under = "taking tokens together with their positions in another order"
    within = 8 * sinusoidal_bound(positions) * size
    assert_equivariant(out, after, order, 0, "outputs of attention", under=under, within=within)
