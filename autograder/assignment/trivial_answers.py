"""Answers that know nothing: zeros, uniform weights, the first argument. No check may pay for one.

Each is made from the reference, so that shapes and types are right and nothing else is: an invariance that is not
anchored by a number gives points to exactly these. Methods work on a copy of their object, so that none of them changes
anything; of an object that they give, the attributes know nothing; what is lazy stays so.
"""

from __future__ import annotations

from autograder.assignment.assignment import Part

KINDS = ("zeros", "uniform", "first-argument")

_WRAPPING = """

import collections.abc as _abc
import copy as _copy
import functools as _functools
import inspect as _inspect

import torch as _torch


def _knows_nothing(value, first):
    if isinstance(value, (list, tuple)):
        items = [_knows_nothing(item, first) for item in value]
        return type(value)._make(items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, _abc.Iterator):
        return (_knows_nothing(item, first) for item in value)
    if type(value).__module__ == __name__:
        value = _copy.copy(value)
        for name, inner in list(getattr(value, "__dict__", {}).items()):
            if isinstance(inner, (bool, int, float, str, bytes)):
                value.__dict__[name] = type(inner)()
            elif isinstance(inner, _torch.Tensor):
                value.__dict__[name] = _torch.zeros_like(inner)
        return value
    if isinstance(value, dict):
        return {key: _knows_nothing(item, first) for key, item in value.items()}
    if isinstance(value, _torch.Tensor):
        return _of_tensor(value, first)
    return type(value)() if isinstance(value, (bool, int, float, str, bytes)) else value


def _of_tensor(value, first):
    if KIND == "first-argument":
        return first
    if KIND == "uniform" and value.dtype == _torch.bool:
        return _torch.ones_like(value)
    if KIND == "uniform" and value.is_floating_point() and value.dim() > 0:
        return _torch.full_like(value, 1.0 / max(value.shape[-1], 1))
    return _torch.zeros_like(value)


def _trivial(function, skip):
    @_functools.wraps(function)
    def answer(*args, **kwargs):
        given = [*args[skip:], *kwargs.values()]
        first = given[0] if given else None
        try:
            value = function(*_unchanged(args[:skip]), *args[skip:], **kwargs)
        except Exception:
            return first if KIND == "first-argument" else _torch.zeros(1)
        return _knows_nothing(value, first)

    return answer


def _unchanged(owner):
    try:
        return _copy.deepcopy(owner)
    except Exception:
        return owner


_BINARY = "add sub mul truediv floordiv mod pow matmul"
_OTHERS = "neg abs lt le gt ge getitem setitem call contains len iter next"
_OPERATORS = {f"__{kind}{name}__" for name in _BINARY.split() for kind in ("", "r", "i")}
_OPERATORS |= {f"__{name}__" for name in _OTHERS.split()}
for _name in NAMES:
    _thing = globals().get(_name)
    if _inspect.isclass(_thing):
        for _method, _function in list(vars(_thing).items()):
            if _inspect.isfunction(_function) and (not _method.startswith("_") or _method in _OPERATORS):
                setattr(_thing, _method, _trivial(_function, 1))
    elif callable(_thing):
        globals()[_name] = _trivial(_thing, 0)
"""


def trivial_source(reference: str, part: Part, kind: str) -> str:
    """The source of a part in which every function that students write answers trivially."""
    wrapping = _WRAPPING.replace("KIND", repr(kind)).replace("NAMES", repr(part.definitions))
    return reference + wrapping
