"""Hints about where the numbers are: axes exchanged, another shape or order, shifted, right only in part.

Every hint is verified by rearranging the result and comparing all of it with what was expected.
"""

from __future__ import annotations

from itertools import permutations

import torch

from autograder.diagnosis.pair import Hint, Pair, axis_name, fact, listed

_MOST_AXES = 5
_LONGEST_AXIS = 64
_CLEARLY = 20
_MANY = 12


def exchanged_axes(pair: Pair) -> Hint | None:
    """The numbers are right after axes are put in another order."""
    axes = pair.got.dim()
    if axes != pair.expected.dim() or not 2 <= axes <= _MOST_AXES or not pair.telling:
        return None
    orders = sorted(permutations(range(axes)), key=lambda order: sum(order[axis] != axis for axis in range(axes)))
    for order in orders:
        moved = [axis for axis in range(axes) if order[axis] != axis]
        if moved and pair.same(pair.got.permute(order), pair.expected):
            if len(moved) == 2:
                return Hint(
                    f"The numbers are right, but axes {moved[0]} and {moved[1]} are exchanged.",
                    "The numbers are right, but two axes are exchanged.",
                )
            return Hint(
                f"The numbers are right, but the axes are in another order: yours, taken as {order}, are the expected.",
                "The numbers are right, but the axes are in another order.",
            )
    return None


def other_shape(pair: Pair) -> Hint | None:
    """The same numbers in the same order, in another shape."""
    got, expected = pair.got, pair.expected
    if (
        got.shape == expected.shape
        or got.numel() != expected.numel()
        or pair.distinct(expected) < min(3, expected.numel())
    ):
        return None
    if not pair.near(got.reshape(expected.shape), expected):
        return None
    shapes = f"your shape is {tuple(got.shape)}, expected is {tuple(expected.shape)}"
    if [size for size in got.shape if size != 1] == [size for size in expected.shape if size != 1]:
        what = "an axis of size 1 is missing" if got.dim() < expected.dim() else "there is an axis of size 1 too many"
        what = "an axis of size 1 is elsewhere" if got.dim() == expected.dim() else what
        return Hint(f"The numbers are right, but {what}: {shapes}.", f"The numbers are right, but {what}.")
    return Hint(f"The numbers are right, but {shapes}.", "The numbers are right, but their shape is another.")


def reduced(pair: Pair) -> Hint | None:
    """The result is the mean or the sum over an axis of the expected one, or one entry of it."""
    got, expected = pair.got, pair.expected
    if got.numel() >= expected.numel() or pair.distinct(got) < 3:
        return None
    for axis in range(expected.dim()):
        size = expected.shape[axis]
        if size < 2 or got.numel() * size != expected.numel():
            continue
        name = axis_name(axis, expected.dim())
        plain = "Your result is the expected one, reduced over an axis"
        for word, value in (("mean", expected.mean(axis)), ("sum", expected.sum(axis))):
            if pair.near(got.reshape(value.shape), value):
                return Hint(f"Your result is the {word} of the expected one over {name}.", f"{plain} ({word}).")
        for index in range(min(size, _LONGEST_AXIS)):
            part = expected.select(axis, index)
            if pair.near(got.reshape(part.shape), part):
                return Hint(
                    f"Your result is only entry {index} along {name} of the expected one.",
                    "Your result is only one entry along an axis of the expected one.",
                )
    return None


def other_order(pair: Pair) -> Hint | None:
    """The entries along one axis are right, but stand in another order."""
    if pair.got.shape != pair.expected.shape or not pair.telling:
        return None
    for axis in reversed(range(pair.expected.dim())):
        order = _order_along(pair, axis)
        if order is not None:
            words = _name_of_order(order)
            name = axis_name(axis, pair.expected.dim())
            return Hint(
                f"The numbers are right, but along {name} {words[0]}.",
                f"The numbers are right, but along an axis {words[1]}.",
            )
    return None


def shifted(pair: Pair) -> Hint | None:
    """Along one axis every entry is the expected entry of its neighbour."""
    if pair.got.shape != pair.expected.shape:
        return None
    for axis in range(pair.expected.dim()):
        size = pair.expected.shape[axis]
        if size < 3:
            continue
        for first, second, words in ((1, 0, "one place too late"), (0, 1, "one place too early")):
            got = pair.got.narrow(axis, first, size - 1)
            expected = pair.expected.narrow(axis, second, size - 1)
            if pair.distinct(expected) >= 3 and pair.same(got, expected):
                return fact(f"Every {pair.place_name(axis)} (axis {axis}) comes {words}.")
    return None


def mixed_axes(pair: Pair) -> Hint | None:
    """The last two axes (tokens, features) are mixed as by a reshape alone, or all numbers stand in other places."""
    got, expected = pair.got, pair.expected
    if got.shape != expected.shape or got.dim() < 2 or not pair.telling:
        return None
    tokens, width = expected.shape[-2:]
    for heads in (size for size in range(2, width) if width % size == 0):
        for cut in ((tokens, heads, width // heads), (heads, tokens, width // heads)):
            mixed = expected.reshape(*expected.shape[:-2], *cut).transpose(-3, -2).reshape(expected.shape)
            if pair.near(got, mixed):
                return fact("Two axes are mixed: between two reshapes, an axis is not moved where it must be.")
    if expected.numel() >= _MANY and pair.near(got.flatten().sort().values, expected.flatten().sort().values):
        return fact("All numbers are there, but stand in other places.")
    return None


def wrong_from(pair: Pair) -> Hint | None:
    """Along one axis the result is right up to some place and wrong from there on, or only from some place on."""
    got, expected = pair.got, pair.expected
    if got.shape != expected.shape or got.dim() < 2:
        return None
    for axis in range(expected.dim()):
        size = expected.shape[axis]
        if not 4 <= size <= _LONGEST_AXIS:
            continue
        errors = (got - expected).abs().movedim(axis, 0).reshape(size, -1).amax(-1)
        right = errors <= pair.relative * pair.scale
        steps = [place for place in range(1, size) if right[place] != right[place - 1]]
        clear = bool((right | (errors > _CLEARLY * pair.relative * pair.scale)).all())
        told = expected.movedim(axis, 0)[right]
        if len(steps) != 1 or not clear or pair.distinct(told) < 3 or not pair.enough(told.numel()):
            continue
        name = pair.place_name(axis)
        first, last = ("right", "wrong") if right[0] else ("wrong", "right")
        return Hint(
            f"Up to {name} {steps[0] - 1} (axis {axis}) all numbers are {first}, from {name} {steps[0]} on {last}.",
            f"The first {name}s are {first}, the later ones {last}.",
        )
    return None


def _order_along(pair: Pair, axis: int) -> list[int] | None:
    """order[i] is the place where entry i of the result should be; None if there is no such order, or nothing moves."""
    size = pair.expected.shape[axis]
    if not 3 <= size <= _LONGEST_AXIS:
        return None
    got = pair.got.movedim(axis, 0).reshape(size, -1)
    expected = pair.expected.movedim(axis, 0).reshape(size, -1)
    apart = torch.stack([(row - expected).abs().amax(-1) for row in got])
    matches = apart <= pair.relative * pair.scale
    if not bool((matches.sum(0) == 1).all() and (matches.sum(1) == 1).all()):
        return None
    order = [int(place) for place in matches.double().argmax(1)]
    return None if order == list(range(size)) else order


def _name_of_order(order: list[int]) -> tuple[str, str]:
    """The order in words, with and without numbers."""
    size = len(order)
    half = [*range(0, size, 2), *range(1, size, 2)]
    known = {"they come in reverse": list(reversed(range(size)))}
    if size % 2 == 0 and size > 2:
        known["the even places come first and the odd ones after, instead of in turn"] = half
        known["the two halves come in turn, instead of one after the other"] = [half.index(i) for i in range(size)]
        known["neighbours (0 and 1, 2 and 3, ...) are exchanged"] = [place ^ 1 for place in range(size)]
    for heads in (number for number in range(3, size // 2) if size % number == 0):
        width = size // heads
        words = f"the first of every group of {width} come first, then the second of every group, not group by group"
        known[words] = [place // heads + place % heads * width for place in range(size)]
    for words, places in known.items():
        if order == places:
            return words, words
    for steps in range(1, size):
        if order == [(place - steps) % size for place in range(size)]:
            return f"they are turned round by {steps}", "they are turned round"
    return f"they stand in another order ({listed(order, 8)})", "they stand in another order"
