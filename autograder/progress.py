"""How far a long run is, on stderr: one line that changes at a terminal, a line now and then where there is none."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

_WORTH_A_LINE = 20
_MOST_NAMED, _WIDTH = 3, 150


class Progress:
    """Counts what is done of `total`. Close it with `end`, or leave a `with`."""

    def __init__(self, total: int, verb: str = "graded") -> None:
        self._total, self._verb = total, verb
        self._done = self._for_nothing = 0
        self._start = time.monotonic()
        self._line = ""

    def step(self, *, for_nothing: bool = False) -> None:
        """One more is done; `for_nothing` is what took no time, and tells nothing about the rest."""
        self._done += 1
        self._for_nothing += for_nothing
        elapsed, worked = time.monotonic() - self._start, self._done - self._for_nothing
        self._line = f"{self._done}/{self._total} {self._verb}"
        if worked:
            left = elapsed / worked * (self._total - self._done)
            self._line += f", {60 * worked / max(elapsed, 1e-9):,.0f} a minute, about {left:.0f} s left"
        if not self._shown(self._line) and (self._done % max(1, self._total // 10) == 0 or self._done == self._total):
            self._print(self._line)

    def at_work(self, names: Sequence[tuple[str, float]]) -> None:
        """Who is being worked at, and since when of the monotonic clock."""
        oldest = sorted(names, key=lambda each: each[1])[:_MOST_NAMED]
        told = ", ".join(f"{name} ({time.monotonic() - since:.0f} s)" for name, since in oldest)
        self._shown(f"{self._line or f'0/{self._total} {self._verb}'}; now {told}")

    def say(self, line: str) -> None:
        """A line that stays: something odd."""
        if sys.stderr.isatty():
            print(f"\r\033[K{line}", file=sys.stderr, flush=True)
        else:
            self._print(line)

    def end(self) -> None:
        """Leave the terminal's line empty."""
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def _shown(self, line: str) -> bool:
        if sys.stderr.isatty():
            print(f"\r\033[K{line[:_WIDTH]}", end="", file=sys.stderr, flush=True)
        return sys.stderr.isatty()

    def _print(self, line: str) -> None:
        if self._total >= _WORTH_A_LINE:
            print(line, file=sys.stderr, flush=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
