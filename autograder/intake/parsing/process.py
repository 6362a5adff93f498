"""The process that parses: JSON in, one line of JSON a cell out, under limits that it puts on itself first."""

from __future__ import annotations

import json
import sys
from typing import Any

from .cell import NotPython, parse_cell
from .outline import outline

CPU_SECONDS = 10
MEMORY = 1 << 30


def main() -> None:
    """Read a list of sources from stdin and write the outline of each, at once, so that a crash names its cell."""
    _limit()
    for source in json.loads(sys.stdin.buffer.read()):
        sys.stdout.write(json.dumps(_described(source)) + "\n")
        sys.stdout.flush()


def _described(source: str) -> dict[str, Any]:
    try:
        module, text = parse_cell(source)
        return {"statements": list(outline(module, text)), "fault": "", "repaired": text != source}
    except NotPython as error:
        return {"statements": [], "fault": str(error)}
    except (RecursionError, MemoryError):
        return {"statements": [], "fault": "is nested too deeply to be read"}


def _limit() -> None:
    if sys.platform != "linux":  # the student's own machine; macOS refuses some limits, and Windows has none
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
