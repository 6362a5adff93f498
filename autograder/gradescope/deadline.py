"""When to stop, so that the platform does not: it overwrites every result of a run that outlives its limit.

Three moments of the monotonic clock: no check is started or continued after `until`; a grader that is still there at
`stop` is ended, and what is known by then is written; `limit` is the platform's. It reads one variable and no clock.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

VARIABLE = "SOFTMARK_TIME_LIMIT"
PLATFORM_SECONDS = 600.0
SHORTEST, LONGEST = 30.0, 86_400.0
_TO_FINISH, _TO_WRITE = 60.0, 30.0  # at most a fifth, and a tenth, of the whole


@dataclass(frozen=True)
class Deadline:
    """The three moments, in seconds of the monotonic clock."""

    until: float
    stop: float
    limit: float


def deadline(start: float, seconds: float) -> Deadline:
    """For a run that began at `start` on a platform that allows so many seconds."""
    return Deadline(
        until=start + seconds - min(_TO_FINISH, seconds / 5),
        stop=start + seconds - min(_TO_WRITE, seconds / 10),
        limit=start + seconds,
    )


def grading_seconds(seconds: float) -> float:
    """How many of the platform's seconds are there for grading."""
    return deadline(0.0, seconds).until


def platform_seconds(environment: Mapping[str, str]) -> float:
    """What the platform allows for one run: `SOFTMARK_TIME_LIMIT`, else (or where that is no time) ten minutes."""
    try:
        seconds = float(environment.get(VARIABLE, ""))
    except ValueError:
        return PLATFORM_SECONDS
    return min(max(seconds, SHORTEST), LONGEST) if math.isfinite(seconds) else PLATFORM_SECONDS
