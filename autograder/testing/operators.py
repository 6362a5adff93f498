"""Which kernels ran, read from what torch dispatched, whatever name the student's code called them by.

The manifest (`forbids`) and the handout say what a part forbids. Work that torch does not dispatch is not seen here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from autograder.testing.memory import shapes
from autograder.testing.mismatch import Mismatch
from autograder.worker.protocol.bans import LIBRARY_ATTENTION

_TORCHS_OWN = frozenset({"aten", "prim", "prims", "profiler", "mkldnn", "mkl", "called"})


class Ran(Protocol):
    """A run under the allocation model."""

    operators: Sequence[str]


Run = TypeVar("Run", bound=Ran)


class Measuring(Protocol):
    """What runs a function of the student's under the allocation model: the fixture `student`."""

    def measure(
        self, f: Any, make_args: Callable[[int], Sequence[Any]], lengths: Sequence[int], *, grad: bool = False
    ) -> Sequence[Ran]: ...


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


def own_work(
    measure: Callable[[Sequence[int]], Sequence[Run]], forbids: Sequence[str], what: str
) -> Callable[[Sequence[int]], Sequence[Run]]:
    """`measure`, but every run is also looked at for what is forbidden: a function may do so at large n alone."""

    def measured(lengths: Sequence[int]) -> Sequence[Run]:
        runs = measure(lengths)
        for run in runs:
            assert_own_work(run, forbids, what)
        return runs

    return measured


def assert_own_attention(
    student: Measuring, attention: Any, forbids: Sequence[str], last: int = 2, *, grad: bool = False
) -> None:
    """The student's `attention(q, k, v, last)` computes attention itself: tried once, on five tokens.

    Args:
        student: the fixture.
        attention: a function of the student's.
        forbids: the fixture: what the part's manifest forbids.
        last: a chunk or a window.
        grad: the backward pass is tried, too.
    """
    [ran] = student.measure(attention, lambda n: (*shapes(n, 12), last), [5], grad=grad)
    assert_own_work(ran, forbids, "your function")
