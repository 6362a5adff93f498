"""Measuring side by side: medians, ratios, CPU time of this process and its children. No figure is kept from an
earlier run.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of the table: what was measured, and what it may be."""

    what: str
    figure: str
    limit: str
    holds: bool


def median_ms(call: Callable[[], object], times: int, warm_up: int = 5) -> float:
    """The median time of a call, in milliseconds."""
    for _ in range(warm_up):
        call()
    taken: list[float] = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return 1000 * statistics.median(taken)


def cpu_seconds() -> float:
    """CPU time of this process and of the children that have been waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def print_table(rows: list[Row]) -> None:
    """The rows, aligned; one that does not hold is marked."""
    widths = [
        max(len(text) for text in column) for column in zip(*[(r.what, r.figure, r.limit) for r in rows], strict=True)
    ]
    for row in rows:
        mark = "" if row.holds else "   <- does not hold"
        print(f"{row.what:<{widths[0]}}  {row.figure:>{widths[1]}}  {row.limit:<{widths[2]}}{mark}")
