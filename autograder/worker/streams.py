"""Streams: an iterator made here, what student code makes of it, and how far each has come.

Counts what is pulled from the iterator, so that laziness can be judged exactly. It judges nothing, and how the memory
of a process is limited is `layers.resources`' business.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, cast


class MemoryLimit(Protocol):
    """The limit of this process's memory, as far as a stream moves it."""

    def lower(self, allowance: int) -> None:
        """From now on the process may take `allowance` bytes more than it has."""
        ...

    def restore(self) -> None:
        """As it was before."""
        ...


class Unlimited:
    """For streams in the grader's own process, whose memory is nobody's to limit."""

    def lower(self, allowance: int) -> None:
        """Nothing happens."""

    def restore(self) -> None:
        """Nothing happens."""


class Stream:
    """An iterator over `given` and, once `consume` has been told them, the outputs of what was fed with it.

    Args:
        given: the items. With `count`: strings, each used again and again.
        count: how many items to make; item i is `given[i % len(given)]` with the number i after it. 0: `given` itself.
    """

    def __init__(self, given: Sequence[Any], count: int = 0) -> None:
        self._given = given
        self._count = count
        self._outputs: Iterator[Any] = iter(())
        self.pulled = 0

    def items(self) -> Iterator[Any]:
        """The iterator to feed. Each item is made when it is asked for, and counted."""
        for number in range(self._count or len(self._given)):
            self.pulled += 1
            yield f"{self._given[number % len(self._given)]}{number}" if self._count else self._given[number]

    def consume(self, outputs: object) -> None:
        """What student code made of the iterator. Raises `TypeError` when that is nothing to iterate over."""
        try:
            self._outputs = iter(cast("Iterator[Any]", outputs))
        except TypeError:
            kind = type(outputs).__name__[:100]
            hint = "return an iterator, or use yield"
            raise TypeError(f"it returned a value of type {kind}, which yields nothing: {hint}") from None

    def take(self, most: int) -> tuple[list[Any], bool]:
        """At most `most` further outputs, and whether that was the end. Asks for no more outputs than these."""
        taken: list[Any] = []
        while len(taken) < most:
            try:
                taken.append(next(self._outputs))
            except StopIteration:
                return taken, True
        return taken, False
