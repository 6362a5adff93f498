"""How far a long run is, on stderr: one line that changes at a terminal, a line now and then where there is none."""

from __future__ import annotations

import sys
import time

_WORTH_A_LINE = 20


class Progress:
    """Counts what is done of `total`. Close it with `end`, or leave a `with`."""

    def __init__(self, total: int, verb: str = "graded") -> None:
        self._total, self._verb = total, verb
        self._done = 0
        self._start = time.monotonic()

    def step(self, *, for_nothing: bool = False) -> None:
        """One more is done; `for_nothing` is what took no time, and tells nothing about the rest."""
        self._done += 1
        elapsed = time.monotonic() - self._start
        left = 0 if for_nothing else elapsed / self._done * (self._total - self._done)
        line = f"{self._done}/{self._total} {self._verb}, about {left:.0f} s left"
        if sys.stderr.isatty():
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
        elif self._total >= _WORTH_A_LINE and (
            self._done % max(1, self._total // 10) == 0 or self._done == self._total
        ):
            print(line, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Leave the terminal's line empty."""
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
