"""Does a call leave everything as it was: its arguments, the random states, torch's settings?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from torch import Tensor

from autograder.testing.mismatch import Mismatch, compared, describe, places, row_at


class ObservedCall(Protocol):
    """What `student.observe` gives: the result, the arguments after the call, the global states that changed."""

    value: Any
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    changed: Sequence[str]


def assert_pure(seen: ObservedCall, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None) -> None:
    """The call changed none of its arguments and no global state. (Anchor this by a comparison of `seen.value`.)

    Args:
        seen: the observed call.
        args: what was passed, as it was before.
        kwargs: likewise, by name.

    Raises:
        Mismatch: naming the argument or the state that changed.
    """
    before = {f"argument {i + 1}": value for i, value in enumerate(args)} | dict(kwargs or {})
    after = {f"argument {i + 1}": value for i, value in enumerate(seen.args)} | dict(seen.kwargs)
    for name, value in before.items():
        _assert_unchanged(after.get(name), value, name)
    if seen.changed:
        states = ", ".join(seen.changed)
        hint = "a function that others call draws no random numbers and changes no setting"
        raise Mismatch("global state", "nothing changed by the call", f"{states} changed", hint)


def _assert_unchanged(after: Any, before: Any, name: str) -> None:
    """A tensor has its numbers, a list, tuple or dict its items in their order."""
    if isinstance(before, (list, tuple, dict)):
        was, keys = cast("Any", before), _keys(cast("Any", before))
        if type(after) is not type(was) or _keys(after) != keys:
            hint = "sort, append, pop and update change the caller's list or dict: work on a copy"
            raise Mismatch(f"{name} after the call", describe(was), f"{after!r}"[:200], hint)
        for key in keys:
            _assert_unchanged(after[key], was[key], f"{name}[{key!r}]")
        return
    if not isinstance(before, Tensor):
        if isinstance(before, (str, bytes, int, float)) and after != before:
            raise Mismatch(f"{name} after the call", repr(before), f"{after!r}"[:200])
        return
    compared(after, before, name)
    hint = "an in-place operation (x -= ..., x.sub_(...), masked_fill_) changes the caller's tensor"
    if not isinstance(after, Tensor) or after.shape != before.shape or after.dtype != before.dtype:
        raise Mismatch(name, f"{describe(before)}, as it was", describe(after), hint)
    different = (after != before) & ~(after.isnan() & before.isnan())
    if bool(different.any()):
        place = places(different)[0]
        raise Mismatch(f"{name} after the call", row_at(name, before, place), row_at(name, after, place), hint)


def _keys(items: Any) -> list[Any]:
    return list(cast("Any", items)) if isinstance(items, dict) else list(range(len(items)))
