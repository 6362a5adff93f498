"""What counts as what when an expression is changed: opposites of operators and functions, arguments that name an axis.

Of the field and of Python, not of any assignment.
"""

from __future__ import annotations

import ast

SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
OTHER_OPERATOR: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mod,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
VERBS: dict[type[ast.operator], str] = {
    ast.Add: "added",
    ast.Sub: "subtracted",
    ast.Mult: "multiplied",
    ast.Div: "divided",
    ast.FloorDiv: "divided without remainder",
    ast.Mod: "reduced to a remainder",
    ast.Pow: "raised to a power",
    ast.MatMult: "multiplied",
    ast.BitAnd: "joined by and",
    ast.BitOr: "joined by or",
    ast.LShift: "shifted to the left",
    ast.RShift: "shifted to the right",
}
NOT_COMMUTATIVE = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
}
OTHER_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}

_PAIRS = """amax amin, max min, maximum minimum, argmax argmin, sum mean, sin cos, tril triu, zeros ones,
    zeros_like ones_like, new_zeros new_ones, any all, floor ceil, cat stack, exp log, cumsum cumprod"""
OTHER_FUNCTION = {
    one: other
    for pair in _PAIRS.split(",")
    for one, other in (pair.split(), reversed(pair.split()))  # pyright: ignore[reportAssignmentType]
}

# Which positional arguments of a tensor's method name an axis; of a function of torch the tensor comes before them.
_FIRST = """all amax amin any argmax argmin argsort cat chunk cumsum gather index_add index_add_ index_select
    log_softmax mean narrow norm scatter scatter_ select size softmax sort split squeeze stack sum unbind unflatten
    unfold unsqueeze"""
_FIRST_TWO = "transpose flatten swapaxes movedim"
AXES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(_FIRST.split(), (0,)),
    **dict.fromkeys(_FIRST_TWO.split(), (0, 1)),
    "permute": tuple(range(8)),
    "roll": (1,),
}
AXIS_KEYWORDS = {"dim", "dims", "axis", "dim0", "dim1", "start_dim", "end_dim"}

# What a call leaves out when only what it is called on, or its first argument, is left.
_REMOVABLE = """abs amax amin argsort clamp clone contiguous cos detach double exp expand flatten float half int log
    long lower masked_fill mean neg permute repeat_interleave reshape round sin softmax sort sqrt squeeze strip sum
    tanh to transpose tril triu unsqueeze"""
REMOVABLE_METHODS = frozenset(_REMOVABLE.split())
REMOVABLE_FUNCTIONS = {"abs", "sorted", "reversed", "sqrt", "exp", "log", "escape", "relu", "tril", "triu", "detach"}
BOUNDS = {"min", "max"}
SYMMETRIC = {"allclose", "equal", "max", "maximum", "min", "minimum", "swapaxes", "transpose"}

# A keyword that only says where a tensor lies cannot be missed on a machine that has one place.
NEVER_DROPPED = {"device", "generator"}
