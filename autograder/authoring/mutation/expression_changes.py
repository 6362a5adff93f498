"""What can be changed in an expression: operators, signs, constants, axes, arguments, calls, variables.

Each function takes one node and yields the changes that it can suffer. What of them is worth anything is not decided
here.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from autograder.authoring.mutation import vocabulary
from autograder.authoring.mutation.source_text import Edit, SourceText


def changes_of_expression(text: SourceText, node: ast.expr, modules: Collection[str]) -> Iterator[Edit]:
    """The changes of one expression, those inside its parts left out. `modules` are names of imported modules."""
    if isinstance(node, ast.BinOp):
        yield from _of_arithmetic(text, node)
    elif isinstance(node, ast.Compare):
        yield from _of_comparison(text, node)
    elif isinstance(node, ast.BoolOp):
        yield from _of_and_or(text, node)
    elif isinstance(node, ast.UnaryOp):
        yield from _of_sign(text, node)
    elif isinstance(node, ast.IfExp):
        exchanged = f"{text.whole(node.orelse)} if {text.of(node.test)} else {text.whole(node.body)}"
        sentence = "the two sides of a choice are exchanged."
        yield text.instead(node, "exchanged branches", exchanged, "choice_exchanged", sentence)
    elif isinstance(node, ast.Call):
        yield from _of_call(text, node, modules)
    elif isinstance(node, ast.Slice):
        yield from _of_slice(text, node)
    elif isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load) and len(node.elts) == 2:
        one, other = node.elts
        if text.of(one) != text.of(other):
            start, stop = text.start(one), text.stop(other)
            swapped = f"{text.whole(other)}, {text.whole(one)}"
            yield Edit(
                "exchanged values", start, stop, swapped, "pair_exchanged", "two values of a pair are exchanged."
            )


@dataclass(frozen=True)
class Place:
    """Where an expression stands: the function whose axis it names, the keyword whose value it is; "" where none."""

    axis_of: str = ""
    keyword: str = ""


NOWHERE = Place()


def changes_of_axis(text: SourceText, node: ast.expr, place: Place) -> Iterator[Edit]:
    """Always the last axis, in place of one that is computed or handed over."""
    if place.axis_of and isinstance(node, ast.Name):
        sentence = f"`{place.axis_of}` always works along the last axis."
        yield text.instead(node, "axis", "-1", f"{place.axis_of}_always_along_the_last_axis", sentence)


def changes_of_constant(text: SourceText, node: ast.expr, place: Place, others: Collection[str]) -> Iterator[Edit]:
    """The changes of a number, a truth value or a string.

    Args:
        text: that it stands in.
        node: a constant, or one with a minus before it.
        place: where it stands.
        others: strings that stand nearby, one of which may be meant in place of this one.
    """
    axis_of = place.axis_of
    value = _value(node)
    if isinstance(value, bool):
        name = "_".join(filter(None, [place.keyword, str(not value).lower()]))
        what = f"`{place.keyword}` is `{not value}`" if place.keyword else f"`{not value}` stands"
        yield text.instead(node, "constant", str(not value), name, f"{what} where `{value}` belongs.")
    elif isinstance(value, int) and axis_of:
        for other in (value + 1, value - 1):
            sentence = f"`{axis_of}` works along another axis than it should."
            yield text.instead(node, "axis", str(other), f"{axis_of}_along_axis_{_in_name(other)}", sentence)
    elif isinstance(value, int):
        for other in (value + 1, value - 1):
            how = "large" if other > value else "small"
            yield text.instead(
                node,
                "off by one",
                str(other),
                f"{other}_for_{value}".replace("-", "minus_"),
                f"a number is too {how} by one.",
            )
    elif isinstance(value, float):
        other = 2 * value if value else 1.0
        yield text.instead(
            node, "constant", repr(other), "constant_doubled", "a constant is another than it should be."
        )
    elif isinstance(value, str):
        chosen = next((each for each in sorted(others) if each > value), None) or min(others, default=value + "_")
        sentence = "a text stands where another one belongs."
        yield text.instead(node, "text", repr(chosen if chosen != value else value + "_"), "another_text", sentence)


@dataclass(frozen=True)
class Sibling:
    """A variable that another is easily mixed up with; `known` to students are those that the starter code names."""

    name: str
    known: bool


def changes_of_variable(text: SourceText, node: ast.Name, siblings: Mapping[str, Sibling]) -> Iterator[Edit]:
    """Another variable in place of one that it is easily mixed up with."""
    other = siblings.get(node.id)
    if other is not None:
        known = f"`{other.name}` stands where `{node.id}` belongs."
        sentence = known if other.known else "one variable stands where another belongs."
        yield text.instead(node, "variable", other.name, f"{other.name}_for_{node.id}", sentence)


def _of_arithmetic(text: SourceText, node: ast.BinOp) -> Iterator[Edit]:
    left, right = text.whole(node.left), text.whole(node.right)
    symbol, verb = vocabulary.SYMBOLS.get(type(node.op)), vocabulary.VERBS.get(type(node.op))
    other = vocabulary.OTHER_OPERATOR.get(type(node.op))
    if symbol is None or verb is None or _is_string(node.left) or _is_string(node.right):
        return
    if other is not None:
        sentence = f"two values are {vocabulary.VERBS[other]} where they should be {verb}."
        name = f"{vocabulary.VERBS[other]}_for_{verb}".replace(" ", "_")
        yield text.instead(node, "operator", f"{left} {vocabulary.SYMBOLS[other]} {right}", name, sentence)
    if isinstance(node.op, vocabulary.NOT_COMMUTATIVE) and left != right:
        sentence = f"two values that are {verb} are exchanged."
        yield text.instead(
            node, "exchanged operands", f"{right} {symbol} {left}", f"{verb}_the_other_way".replace(" ", "_"), sentence
        )
    missing = f"one of two values that should be {verb} is missing."
    yield text.instead(node, "dropped operand", left, f"not_{verb}".replace(" ", "_"), missing)
    if isinstance(node.op, (ast.Add, ast.Mult)):
        yield text.instead(node, "dropped operand", right, f"not_{verb}", missing)


def _of_comparison(text: SourceText, node: ast.Compare) -> Iterator[Edit]:
    if len(node.ops) != 1:
        return
    left, right = text.whole(node.left), text.whole(node.comparators[0])
    was = vocabulary.COMPARISONS[type(node.ops[0])]
    for other in vocabulary.OTHER_COMPARISONS[type(node.ops[0])]:
        symbol = vocabulary.COMPARISONS[other]
        sentence = f"a comparison is `{symbol}` where it should be `{was}`."
        yield text.instead(node, "comparison", f"{left} {symbol} {right}", _comparison_name(was, symbol), sentence)


def _of_and_or(text: SourceText, node: ast.BoolOp) -> Iterator[Edit]:
    word, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    parts = [text.whole(value) for value in node.values]
    sentence = f"conditions are joined by `{other}` where they should be by `{word}`."
    yield text.instead(node, "operator", f" {other} ".join(parts), f"{other}_for_{word}", sentence)
    for place in range(len(parts)):
        rest = f" {word} ".join(parts[:place] + parts[place + 1 :])
        yield text.instead(node, "dropped operand", rest, "condition_missing", "one of several conditions is missing.")


def _of_sign(text: SourceText, node: ast.UnaryOp) -> Iterator[Edit]:
    if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
        yield text.instead(node, "sign", text.whole(node.operand), "sign_lost", "a minus sign is missing.")
    elif isinstance(node.op, (ast.Not, ast.Invert)):
        yield text.instead(node, "sign", text.whole(node.operand), "not_negated", "a negation is missing.")


def _of_slice(text: SourceText, node: ast.Slice) -> Iterator[Edit]:
    lower, upper = ("" if each is None else text.of(each) for each in (node.lower, node.upper))
    step = "" if node.step is None else f":{text.of(node.step)}"
    for name, kept in (("beginning", f":{upper}{step}"), ("end", f"{lower}:{step}")):
        if (lower if name == "beginning" else upper) not in ("", "0"):
            sentence = f"a slice lacks its {name}."
            yield text.instead(node, "slice", kept, f"slice_without_{name}", sentence)
    if step:
        yield text.instead(node, "slice", f"{lower}:{upper}", "slice_without_step", "a slice lacks its step.")


def _of_call(text: SourceText, node: ast.Call, modules: Collection[str]) -> Iterator[Edit]:
    function = name_of(node)
    if not function:
        return
    plain = isinstance(node.func, ast.Name) or _is_module(node.func, modules)
    yield from _of_function(text, node, function)
    yield from _of_arguments(text, node, function)
    if not plain and function in vocabulary.REMOVABLE_METHODS:
        assert isinstance(node.func, ast.Attribute)
        yield _without_call(text, node, node.func.value, function)
    elif plain and node.args and function in vocabulary.REMOVABLE_FUNCTIONS:
        yield _without_call(text, node, node.args[0], function)
    elif plain and function in vocabulary.BOUNDS and len(node.args) == 2 and not node.keywords:
        for argument in node.args:
            sentence = f"a value is not bounded: one side of `{function}` is missing."
            yield text.instead(node, "removed call", text.whole(argument), f"without_{function}", sentence)


def _without_call(text: SourceText, node: ast.Call, left: ast.expr, function: str) -> Edit:
    name = f"without_{function.rstrip('_')}"
    return text.instead(node, "removed call", text.whole(left), name, f"a call of `{function}` is missing.")


def _of_function(text: SourceText, node: ast.Call, function: str) -> Iterator[Edit]:
    other = vocabulary.OTHER_FUNCTION.get(function)
    if other is not None:
        stop = text.stop(node.func)
        start = stop - len(function.encode())
        sentence = f"`{other}` stands where `{function}` belongs."
        yield Edit("function", start, stop, other, f"{other}_for_{function}", sentence)


def _of_arguments(text: SourceText, node: ast.Call, function: str) -> Iterator[Edit]:
    for one, other in zip(node.args, node.args[1:], strict=False):
        if isinstance(one, ast.Starred) or isinstance(other, ast.Starred) or text.of(one) == text.of(other):
            continue
        if function in vocabulary.SYMMETRIC:
            continue
        between = text.between(text.stop(one), text.start(other))
        swapped = f"{text.of(other)}{between}{text.of(one)}"
        sentence = f"two arguments of `{function}` are exchanged."
        name = f"{function.strip('_')}_arguments_exchanged"
        yield Edit("exchanged arguments", text.start(one), text.stop(other), swapped, name, sentence)
    for word in node.keywords:
        if word.arg is None or word.arg in vocabulary.NEVER_DROPPED or isinstance(_value(word.value), bool):
            continue
        rest = [text.of(each) for each in (*node.args, *node.keywords) if each is not word]
        sentence = f"`{function}` is called without `{word.arg}`."
        name = f"{function.strip('_')}_without_{word.arg}"
        yield text.instead(node, "dropped argument", f"{text.of(node.func)}({', '.join(rest)})", name, sentence)


def name_of(node: ast.Call) -> str:
    """The last name of what is called: "amax" of `x.amax(dim)`; "" where it has none."""
    function = node.func
    return (
        function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""
    )


def places_in(text: SourceText, node: ast.expr, modules: Collection[str]) -> Iterator[tuple[ast.expr, Place]]:
    """The expressions inside an expression and where they stand: no keys of dicts, no names that are called."""
    axes: dict[int, str] = {}
    if isinstance(node, ast.Call):
        axes = {id(each): name_of(node) for each in _axes(node, modules)}
    elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        axes = {id(node.slice): "shape"}
    for field, value in ast.iter_fields(node):
        if isinstance(node, ast.Dict) and field == "keys":
            continue
        for part in _as_list(value):
            if isinstance(part, ast.keyword):
                yield part.value, Place(axes.get(id(part.value), ""), part.arg or "")
            elif isinstance(part, ast.comprehension):
                yield part.iter, NOWHERE
                yield from ((each, NOWHERE) for each in part.ifs)
            elif isinstance(part, ast.expr) and not (field == "func" and isinstance(part, ast.Name)):
                yield part, Place(axes.get(id(part), ""))


def _as_list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else [value]


def _axes(node: ast.Call, modules: Collection[str]) -> Iterator[ast.expr]:
    """The arguments of a call that name axes."""
    function = name_of(node)
    of_module = isinstance(node.func, ast.Attribute) and _is_module(node.func, modules)
    shift = 1 if of_module and function != "roll" else 0
    places = {place + shift for place in vocabulary.AXES.get(function, ())}
    yield from (argument for place, argument in enumerate(node.args) if place in places)
    yield from (word.value for word in node.keywords if word.arg in vocabulary.AXIS_KEYWORDS)


def is_negative(node: ast.expr) -> bool:
    """Whether it is a number with a minus before it."""
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)


def _value(node: ast.expr) -> object:
    if isinstance(node, ast.UnaryOp) and is_negative(node):
        value = cast("ast.Constant", node.operand).value
        return -value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    return node.value if isinstance(node, ast.Constant) else None


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or isinstance(_value(node), (str, bytes))


def _is_module(function: ast.expr, modules: Collection[str]) -> bool:
    """Whether a function is looked up in a module: `torch.sum`, `torch.nn.functional.gelu`."""
    while isinstance(function, ast.Attribute):
        function = function.value
    return isinstance(function, ast.Name) and function.id in modules


def _in_name(number: int) -> str:
    return str(number).replace("-", "minus_")


_NAMES = {"<": "less", "<=": "at_most", ">": "more", ">=": "at_least", "==": "equal", "!=": "different"}


def _comparison_name(was: str, symbol: str) -> str:
    return "_for_".join(_NAMES.get(each, each.replace(" ", "_")) for each in (symbol, was))
