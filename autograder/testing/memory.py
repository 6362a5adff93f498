"""Does memory, or work, grow with the length n of a sequence or with its square? And did one call stay small?

Theory of operation. `student.measure` gives the peak memory of one call at length n, by the allocation model.

1. Suppose peak(n) = a + b n + c n^2. The second divided difference over three lengths is c, whatever a and b are. c is
   in bytes for each (query, key) pair. Linear memory has c = 0. A float32 matrix of all scores has c = 4.
2. Take a triple of lengths, 8, 12 and 16 chunks, and compute c. Below 0.01 bytes a pair, growth is linear: done.
3. Else take the triple twice as long, and the one twice as long again. A peak that moves from one phase of the
   computation to another bends one triple; quadratic growth bends every triple by the same c.
4. Growth of half a byte or more per pair in all triples fails. Smaller growth fails too, unless c falls to less than
   0.6 of itself from one triple to the next: n log n halves it, n^1.5 leaves 0.71, n^2 leaves all.

Example, chunk 64, d = 12, float32. At n = 512, 768 and 1,024, chunked attention peaks at a + b n bytes, so c = 0.0000.
Attention that keeps all scores has 4 n^2 bytes on top: the slopes are 5,120 and 7,168 bytes a token, their difference
over 1,024 - 512 tokens is c = 4, and the check fails "by 4.0 bytes a pair".

The exponents of growth in the table are for people: on log axes, constant and linear parts hide a square at small n.
`student.weighing` gives the kernel's account of one call, in MiB, which no student code can forge.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol, TypeVar

import torch
from torch import Tensor

from autograder.testing.mismatch import Mismatch

MIB = 1 << 20
TRIPLES = ((8, 12, 16), (16, 24, 32), (32, 48, 64))  # lengths, in chunks
MOST_BYTES_A_PAIR = 0.5
STRAIGHT = 0.01  # bytes a pair; every right form that was tried has 0.0000
STEADY = 0.6  # of what is there at one triple, at the next, twice as long: n^2 keeps 1, n^1.5 0.71, n log n 0.5
MOST_EXPONENT = 1.15
MOST_OPERATIONS_A_PAIR = 0.5
Value = TypeVar("Value")


class Point(Protocol):
    """One run under the allocation model; see `worker.messages.Measured`."""

    n: int
    peak: int
    largest: int
    largest_where: str
    kept: int
    elements: int
    products: int


class Scale(Protocol):
    """The kernel's account of one or several calls."""

    growth: int | None
    written: int
    processes: bool


class Weighing(Protocol):
    """What has calls weighed: the fixture `student`."""

    def weighing(self) -> AbstractContextManager[Scale]: ...


Measure = Callable[[Sequence[int]], Sequence[Point]]
"""Runs a function at each of the lengths."""


def shapes(n: int, d: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values (1, 1, n, d) without content, from which `student.measure` makes its own."""
    q, k, v = (torch.empty(1, 1, n, d, device="meta") for _ in range(3))
    return q, k, v


@dataclass(frozen=True)
class Growth:
    """How memory grows: bytes for each (query, key) pair, the runs that it was computed from, and the verdict."""

    bytes_a_pair: float
    points: tuple[Point, ...]
    is_linear: bool


def second_difference(n: Sequence[float], values: Sequence[float]) -> float:
    """The coefficient of n^2 in the parabola through three points; 0 for a line, whatever its slope and offset."""
    slopes = [(values[i + 1] - values[i]) / (n[i + 1] - n[i]) for i in (0, 1)]
    return (slopes[1] - slopes[0]) / (n[2] - n[0])


def growth(measure: Measure, chunk: int, of: Callable[[Point], int] = lambda point: point.peak) -> Growth:
    """How memory grows with the square of the length: steps 2 to 4 of the theory above.

    A mask of one bit a pair, or a chunk that is an eighth of n, is a square with a factor below `MOST_BYTES_A_PAIR`. It
    is recognised because the factor is the same for all three triples.
    """
    runs: list[Point] = []
    bends: list[float] = []
    is_linear: bool | None = None
    for triple in TRIPLES:
        known = {point.n: point for point in runs}
        lengths = [times * chunk for times in triple]
        runs += measure([n for n in lengths if n not in known])
        known = {point.n: point for point in runs}
        bends.append(second_difference(lengths, [of(known[n]) for n in lengths]))
        if (is_linear := _verdict(bends)) is not None:
            break
    return Growth(min(bends), tuple(runs), is_linear is True)


def _verdict(bends: Sequence[float]) -> bool | None:
    """Whether the second differences of triples that double are those of a line; None: run the next triple."""
    if bends[-1] < STRAIGHT:
        return True
    if len(bends) > 1 and min(bends) < MOST_BYTES_A_PAIR and bends[-1] < STEADY * bends[-2]:
        return True
    return None if len(bends) == 1 or (min(bends) < MOST_BYTES_A_PAIR and len(bends) < len(TRIPLES)) else False


def exponents(n: Sequence[float], values: Sequence[float]) -> list[float]:
    """The power of the length by which each value grew since the one before: 1 is linear, 2 a square."""
    pairs = pairwise(zip(n, values, strict=True))
    return [math.log(max(b, 1.0) / max(a, 1.0)) / math.log(m / k) for (k, a), (m, b) in pairs]


# ------------------------------------------------------------------ what a check asserts


def assert_linear_memory(measure: Measure, chunk: int, what: str, *, training: bool = False) -> Growth:
    """Peak memory grows with the length and not with its square.

    Args:
        measure: runs the student's function with this `chunk` at given lengths.
        chunk: the lengths are multiples of it.
        what: the function's name.
        training: whether the backward pass is included.

    Raises:
        Mismatch: with lengths, MiB and exponents, and the line that made the largest tensor.
    """
    found = growth(within_memory(measure, what), chunk)
    if not found.is_linear:
        hint = _why_kept(found) if training else ""
        part = "a part of a number" if found.bytes_a_pair < 1 else "a number"
        hint = hint or f"somewhere there is {part} for each pair of a query and a key"
        square = f"{found.bytes_a_pair:.1f}" if found.bytes_a_pair >= 1 else f"{found.bytes_a_pair:.2f}"
        got = f"{table(found.points)}\nmemory grows with n squared, by {square} bytes a pair"
        raise Mismatch(_memory(what), "a peak that grows with n", got, hint, theirs=_line(found.points[-1]))
    return found


def assert_largest_tensor(point: Point, most: float, what: str) -> None:
    """No single tensor holds more than `most` bytes: scores are computed chunk by chunk in queries and in keys."""
    if point.largest > most:
        hint = "the chunks are cut along one axis only, or not at all"
        limit = f"no tensor of more than {most / 1024:,.0f} KiB at n = {point.n:,}"
        raise Mismatch(
            f"largest tensor in {what}", limit, f"one of {point.largest / 1024:,.0f} KiB", hint, theirs=_line(point)
        )


def assert_bytes_a_token(point: Point, most: float, what: str) -> None:
    """Peak memory is at most `most` bytes a token."""
    if point.peak > most * point.n:
        got = f"{point.peak / point.n:,.0f} bytes a token at n = {point.n:,}"
        hint = "a copy of all keys of a window for each query, or all n x n scores, is too much"
        raise Mismatch(_memory(what), f"at most {most:,.0f} bytes a token", got, hint, theirs=_line(point))


def assert_linear_operations(measure: Measure, lengths: Sequence[int], what: str) -> None:
    """Numbers written plus multiply-adds grow about linearly over `lengths`, each of which is twice the one before.

    At the last step the power is at most `MOST_EXPONENT`, and nothing is done for each (query, key) pair.
    """
    points = within_memory(measure, what)(lengths)
    work = [float(point.elements + point.products) for point in points]
    steps = exponents(lengths, work)
    for_each_pair = second_difference(lengths[-3:], work[-3:]) if len(work) > 2 else 0.0
    if steps[-1] > MOST_EXPONENT or for_each_pair >= MOST_OPERATIONS_A_PAIR:
        rows = [f"{n:>7,} {value / 1e6:>9,.0f}" for n, value in zip(lengths, work, strict=True)]
        rows = [rows[0], *(f"{row} {step:>8.2f}" for row, step in zip(rows[1:], steps, strict=True))]
        got = "\n".join([f"{'n':>7} {'millions':>9} {'exponent':>8}", *rows])
        hint = "scores are computed for keys outside the window, and masked afterwards"
        raise Mismatch(f"operations of {what}", "as many a token at any length", got, hint)


def assert_seen(point: Point, least: float, what: str) -> None:
    """The allocation model saw at least `least` operations. If it saw less, the work was done out of its sight."""
    if point.elements + point.products < least:
        hint = (
            "memory is graded on torch's tensors: numpy, threads, processes and operators of your own are out of sight"
        )
        raise Mismatch(f"work of {what}", "every score computed by torch, where it can be seen", "little of it", hint)


def weigh(student: Weighing, call: Callable[[], Value], most: float, what: str) -> Value:
    """The value of `call`, during which the process grew by at most `most` MiB, including files that it wrote.

    Call the function once before: whatever is loaded at the first call counts, too.

    Raises:
        Mismatch: naming the growth, or saying that the call started other processes, whose memory is not counted.
    """
    with student.weighing() as scale:
        value = within_memory(call, what)()
    grown = ((scale.growth or 0) + scale.written) / MIB
    limit = f"at most {most:g} MiB more than before the call"
    if scale.processes:
        raise Mismatch(_memory(what), limit, "other processes were started", "memory is graded in one process")
    if grown > most:
        hint = f"{what} holds far more at once than its result and one chunk of scores"
        raise Mismatch(_memory(what), limit, f"{grown:,.0f} MiB", hint)
    return value


def within_memory(call: Callable[..., Value], what: str) -> Callable[..., Value]:
    """`call`, but running out of memory is a mismatch about memory instead of an error."""

    def carried_out(*args: object) -> Value:
        try:
            return call(*args)
        except Exception as error:
            if not (isinstance(error, MemoryError) or "DefaultCPUAllocator" in str(error)):
                raise
            hint = f"{what} holds far more at once than its result and one chunk of scores"
            raise Mismatch(
                _memory(what), "at most what a worker may use", "more than that: an allocation failed", hint
            ) from None

    return carried_out


# ------------------------------------------------------------------ what people read


def table(points: Sequence[Point]) -> str:
    """Lengths, MiB at the peak, and the exponent of each step, as plain text."""
    points = sorted(points, key=lambda point: point.n)
    steps = ["", *(f"{step:.2f}" for step in exponents([p.n for p in points], [p.peak for p in points]))]
    rows = [f"{point.n:>7,} {point.peak / MIB:>9,.2f} {step:>8}" for point, step in zip(points, steps, strict=True)]
    return "\n".join([f"{'n':>7} {'MiB':>9} {'exponent':>8}", *rows])


def _memory(what: str) -> str:
    return f"memory of {what}"


def _why_kept(found: Growth) -> str:
    """A hint for a forward pass that keeps quadratic memory for the backward pass; "" for any other."""
    last = sorted(found.points, key=lambda point: point.n)[-3:]
    kept = second_difference([point.n for point in last], [point.kept for point in last])
    if kept < found.bytes_a_pair / 2:
        return ""
    return "chunks under plain autograd are all kept, since backward needs every weight again: recompute them there"


def _line(point: Point) -> str:
    return f"; the largest tensor comes from {point.largest_where}" if point.largest_where else ""
