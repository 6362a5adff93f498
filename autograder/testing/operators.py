"""Which kernels ran, read from what torch dispatched, whatever name the student's code called them by.

The manifest (`forbids`) and the handout say what a part forbids. Work that torch does not dispatch is not seen here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from autograder.testing.mismatch import Mismatch
from autograder.worker.protocol.bans import LIBRARY_ATTENTION

_TORCHS_OWN = frozenset({"aten", "prim", "prims", "profiler", "mkldnn", "mkl", "called"})


class Ran(Protocol):
    """A run under the allocation model."""

    operators: Sequence[str]


def library_attention(operators: Sequence[str]) -> str:
    """The first operator that is the library's own attention, or ""."""
    return next((name for name in operators if any(word in name for word in LIBRARY_ATTENTION)), "")


def custom_operator(operators: Sequence[str]) -> str:
    """The first operator that is not torch's own, or ""."""
    return next((name for name in operators if name.partition(".")[0] not in _TORCHS_OWN), "")


def assert_own_work(ran: Ran, forbids: Sequence[str], what: str) -> None:
    """None of the operators that ran is forbidden.

    Raises:
        Mismatch: naming the operator.
    """
    found = {"library attention": library_attention, "custom operators": custom_operator}
    for kind in forbids:
        if kind in found and (operator := found[kind](ran.operators)):
            name = operator.removeprefix("called.")
            hint = f"{kind} is left out here, since writing it is the exercise (see the handout)"
            raise Mismatch(f"operators of {what}", "products, sums and exp of your own", f"{name} ran", hint)
