"""Visible checks of part 6: the data, the block, the model and the training, and what the trained models know.

Modules are compared with the reference's by parameters that the check draws, within `assert_same_module`. Weights that
were handed in are tried here in the student's own model, and so without points: code that counts needs no weights.
The hidden checks try them in the reference's.
"""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, weight

from autograder.testing.mismatch import Mismatch, compared
from autograder.testing.modules import load_alike
from autograder.testing.numbers import assert_same, assert_tensor, parts_of
from autograder.testing.purity import assert_pure
from support.order import SYMBOLS, A, B, accuracy_of, assert_accuracy, assert_same_module, load_own, pairs

DECAY = 1 - 0.01 * 3e-3  # what AdamW leaves of a weight at each step
ARMS = [("none", False), ("none", True), ("sinusoidal", False), ("learned", False), ("rope", False), ("rope", True)]


@number("6.1a")
@weight(0.5)
@pytest.mark.read("handout 6.1")
def test_sequences_ask_which_comes_first(student):
    """A sequence holds one A, one B and fillers, and its label says whether A comes before B"""
    for count, length, seed in [(3, 4, 0), (1, 5, 7), (50, 6, 1), (200, 9, 2), (5, 33, 3)]:
        tokens, labels = parts_of(student.draw_sequences(count, length, seed), "tokens", "labels")
        compared(tokens, None, "tokens")
        tokens = assert_tensor(tokens, "tokens")
        if tokens.shape != (count, length) or tokens.dtype != torch.int64:
            raise Mismatch("tokens", f"int64 ({count}, {length})", f"{tokens.dtype} {tuple(tokens.shape)}")
        if not (bool((tokens >= 0).all()) and bool((tokens < SYMBOLS).all())):
            raise Mismatch("tokens", f"symbols 0 .. {SYMBOLS - 1}", f"{int(tokens.min())} .. {int(tokens.max())}")
        for symbol, name in ((A, "A (0)"), (B, "B (1)")):
            assert_same((tokens == symbol).sum(1), torch.ones(count, dtype=torch.int64), f"how often {name} stands")
        before = (tokens == A).int().argmax(dim=1) < (tokens == B).int().argmax(dim=1)
        assert_same(labels, before.long(), "labels")


@number("6.2a")
@weight(1)
@pytest.mark.read("handout 6.2")
def test_block_is_pre_norm(student, reference, cases):
    """A block is pre-norm: what is added to a token was computed from normalised tokens; the sum is left alone"""
    for d_model, heads, n in [(4, 1, 3), (12, 3, 5), (10, 2, 7)]:
        alike = load_alike(student.Block, reference.Block, cases, d_model, heads)
        x = cases.tensor(2, n, d_model, scale=3.0)
        assert_same_module(alike, alike.module(x.to(alike.dtype)), "the block's result", x)
    for x in (cases.tensor(1, 1, 10), cases.tensor(2, 10, 4).mT):
        given = x.to(alike.dtype)
        seen = student.observe(alike.module, given)
        assert_same_module(alike, seen.value, "the block's result", x)
        assert_pure(seen, (given,))
    wide = alike.module.double()(x.double())
    assert_same_module(alike, wide, "the block's result in float64", x)
    if wide.dtype != torch.float64:
        raise Mismatch("the block's result in float64", "float64", str(wide.dtype))


@number("6.2b")
@weight(1)
@pytest.mark.read("handout 6.2")
def test_block_hands_mask_and_positions_on(student, reference, cases):
    """A block hands mask and positions on to its attention: both say what tokens see of one another"""
    n = 5
    alike = load_alike(student.Block, reference.Block, cases, 32, 4)
    for mask in (torch.ones(n, n, dtype=torch.bool).tril(), torch.eye(n, dtype=torch.bool), cases.mask(n, n)):
        x = cases.tensor(2, n, 32)
        got = alike.module(x.to(alike.dtype), mask=mask)
        assert_same_module(alike, got, "the block's result under a mask", x, mask=mask)
    alike = load_alike(student.Block, reference.Block, cases, 32, 4, rotary=True)
    for positions in (None, torch.tensor([3, 0, 7, 7, 100]), (torch.arange(n) - 20).int()):
        x, mask = cases.tensor(2, n, 32), cases.mask(n, n)
        got = alike.module(x.to(alike.dtype), mask=mask, positions=positions)
        assert_same_module(alike, got, "the rotary block's result", x, mask=mask, positions=positions)
    x = cases.tensor(2, n, 32)
    assert_same_module(alike, alike.module(x.to(alike.dtype)), "the rotary block's result without a mask", x)


@number("6.3a")
@weight(1)
@pytest.mark.read("handout 6.3")
def test_model_is_the_one_of_the_handout(student, reference, cases):
    """Embed, add a code, two blocks, normalise, average over the tokens, decide: each arm is this model"""
    for position, causal in ARMS:
        alike = load_alike(student.OrderModel, reference.OrderModel, cases, position, causal)
        for count, n in [(1, 3), (4, 9)]:
            tokens = cases.integers(count, n, low=0, high=SYMBOLS)
            assert_same_module(alike, alike.module(tokens), "logits", tokens)


@number("6.4a")
@weight(0.25)
@pytest.mark.read("handout 6.4")
def test_training_can_be_repeated(student):
    """A result that cannot be repeated is no result: the same seed gives the same weights, another seed others"""
    arm = ("none", True)
    like = student.OrderModel(*arm).state_dict()
    runs = [student.train(*arm, steps=steps, seed=seed) for steps, seed in [(2, 3), (2, 3), (2, 4), (0, 3)]]
    for run in runs:
        _assert_weights(run, like)
    first, again, other, untrained = runs
    for name in like:
        assert_same(again[name], first[name], f"{name} after two steps, trained again with the same seed")
    for run, what in ((other, "with another seed"), (untrained, "before the first step")):
        if all(torch.equal(run[name], first[name]) for name in like):
            raise Mismatch("weights after two steps", f"other weights than {what}", "the same")


@number("6.4b")
@weight(0.25)
@pytest.mark.read("handout 6.4")
def test_training_learns(student, cases):
    """Training learns: after thirty steps the causal model without a code tells sequences it never saw apart

    The reference's loss is then 0.02 to 0.1 (20 seeds, lengths 6 and 16); who guesses has 0.69. AdamW makes one step of
    0.003 of each weight first, and rows of the table that no length reaches only shrink, by 0.01 x 0.003 a step.
    """
    model = student.OrderModel("none", True)
    model.load_state_dict(student.train("none", True, steps=30, seed=5))
    for length in (6, 16):
        tokens, labels = pairs(cases, 100, length)
        loss = float(torch.nn.functional.cross_entropy(assert_tensor(model(tokens), "logits").double(), labels))
        if not loss < 0.35:
            raise Mismatch(f"loss after 30 steps at length {length}", "less than 0.35", f"{loss:.2f}")
    reached = [_length_of_the_first_step(student, seed) for seed in range(12)]
    if not (min(reached) >= 6 and max(reached) <= 16 and len(set(reached)) >= 4):
        raise Mismatch("lengths of the first step, with 12 seeds", "6 to 16, drawn anew", ", ".join(map(str, reached)))
    before, after = (student.train("learned", False, steps=steps, seed=1)["code.table.weight"] for steps in (0, 90))
    moved = (after.double() / before.double() - DECAY**90).abs().amax(dim=1) > 1e-4
    if bool(moved[16:].any()):
        raise Mismatch("rows 16 and up of the learned table after 90 steps", "the first ones, times 0.99730", "others")
    if max([*reached, int(moved.sum())]) < 16:  # one chance in 15,000 that none of 102 lengths is 16
        raise Mismatch("the longest of 102 lengths", "16", str(max([*reached, int(moved.sum())])))
    for position in ("sinusoidal", "rope"):
        plain = student.OrderModel("none", False).state_dict()
        before, after = (student.train(position, False, steps=steps, seed=1) for steps in (0, 1))
        for name in after.keys() - plain.keys():
            assert_same(
                after[name], before[name], f"{name} of the {position} model, whose code is a formula, after a step"
            )


def _length_of_the_first_step(student, seed):
    """How many rows of the learned table move, once it is known that the step is AdamW's."""
    before, after = (student.train("learned", False, steps=steps, seed=seed) for steps in (0, 1))
    _assert_weights(after, student.OrderModel("learned", False).state_dict())
    steps = {name: (after[name].double() - DECAY * before[name].double()).abs() / 3e-3 for name in after}
    for name in ("head.weight", "embedding.weight", "code.table.weight"):
        step = float(steps[name][:6].median())
        if not 0.98 < step < 1.02:
            raise Mismatch(f"first step of {name}", "0.003 in most entries", f"{3e-3 * step:.2g} (median)")
    if not bool((steps["embedding.weight"].amax(dim=1) > 0.9).all()):
        raise Mismatch("embedded symbols that learn in the first step", "all 12 of 128 sequences", "fewer")
    return int((steps["code.table.weight"].amax(dim=1) > 0.5).sum())


def _assert_weights(run, like):
    """What training returned has every tensor of a model's state_dict, in its shape."""
    compared(run, None, "weights")
    for name, value in like.items():
        if not isinstance(run, dict) or name not in run:
            raise Mismatch("weights", f"a state_dict with {name}", "none of that name")
        if assert_tensor(run[name], name).shape != value.shape:
            raise Mismatch(name, f"shape {tuple(value.shape)}", f"shape {tuple(run[name].shape)}")


@number("6.5a")
@weight(0)
@pytest.mark.read("handout 6.5")
@pytest.mark.parametrize("arm", ["none_causal", "sinusoidal", "learned", "rope"])
def test_your_models_see_order(student, cases, handed_in, arm):
    """Without points: your own models, with the weights you hand in, see which comes first

    Stays beside 6.5b and 6.5e, which give the points and fail with it: they are hidden, and this one shows the numbers.
    """
    position, _, causal = arm.partition("_")
    model = load_own(student.OrderModel(position, causal == "causal"), handed_in, arm)
    got = accuracy_of(model, cases, range(6, 17), count=30)
    assert_accuracy(got, f"order_{arm} at lengths 6 to 16", least=0.95)
