"""What student code prints: two streams on one descriptor.

The first bytes are written line by line, so that a crash loses none of them; what comes after is gathered into
blocks, so that a flood costs little. It caps nothing: the grader keeps the first 10 kB and counts the rest.
Made once, in the fork server: a worker's own standard output takes the place of the server's by its number.
"""

from __future__ import annotations

import io
import os
import sys
from typing import Any

PROMPT_BYTES = 10_000
_BLOCK = 1 << 16


class _Blocks(io.RawIOBase):
    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._written = 0
        self._gathered = bytearray()

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, data: Any, /) -> int:
        block = bytes(data)
        self._gathered += block
        if self._written < PROMPT_BYTES or len(self._gathered) >= _BLOCK:
            self.drain()
        return len(block)

    def drain(self) -> None:
        block, self._gathered = self._gathered, bytearray()
        self._written += len(block)
        view = memoryview(block)
        while view:
            view = view[os.write(self._descriptor, view) :]


class Output:
    """`sys.stdout` and `sys.stderr` of a worker, both on `descriptor`."""

    def __init__(self, descriptor: int) -> None:
        self._raw = _Blocks(descriptor)
        for name in ("stdout", "stderr"):
            buffered = io.BufferedWriter(self._raw, 8192)
            stream = io.TextIOWrapper(buffered, "utf-8", "backslashreplace", newline="", line_buffering=True)
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)
        self._streams = (sys.stdout, sys.stderr)

    def flush(self) -> None:
        """Pass on what is gathered. What student code has done to its streams is no concern of ours."""
        for flush in (*(stream.flush for stream in self._streams), self._raw.drain):
            try:
                flush()
            except Exception:
                continue
