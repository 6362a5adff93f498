"""Keeps the grading process to its time and picks up what it leaves: a grade, or what was known when it ended.

A grader that dies is tried once more while there is time for it. One that is still there when the time is up (a check
may never end on what a student returned) is ended, with everything that was started. It writes no results.json.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from autograder import processors
from autograder.gradescope import handoff as files
from autograder.gradescope.deadline import Deadline
from autograder.results import CheckResult, Grade
from autograder.worker.protocol.system import adopt_orphans, children

MOST_TRIES = 2
_SETTLING = 15.0
_STOPPED = "grading was stopped before its end: its time was up (a check did not come to an end), or it was asked to"
_DIED = "the grader itself died while it graded this submission"


class StopRequested(BaseException):
    """Somebody asked for an end: what is known by then is the result, as where the time is up."""


@dataclass
class Supervised:
    """What became of one submission: a grade, or none, why for staff, and figures of the run."""

    grade: Grade | None
    details: list[str] = field(default_factory=list[str])
    run: dict[str, Any] = field(default_factory=dict[str, Any])


def grade_in_time(order: files.Order, deadline: Deadline, environment: dict[str, str]) -> Supervised:
    """Have the order carried out. Raises only what is a fault of ours."""
    adopt_orphans()  # else what a killed grader has started could outlive it unseen
    details: list[str] = []
    with tempfile.TemporaryDirectory(prefix="softmark-") as top:  # mode 0700
        attempt = 0
        while True:
            attempt += 1
            folder = Path(top) / str(attempt)
            folder.mkdir()
            (folder / files.ORDER).write_bytes(msgspec.json.encode(order))
            begun = time.monotonic()
            status = _run(folder, deadline.stop, environment)
            run = {"tries": attempt, **_report(folder)}
            if (grade := _read_grade(folder / files.GRADE)) is not None:
                return Supervised(grade, details, run)
            details.append(_how_it_ended(folder, status, attempt))
            no_time = time.monotonic() - begun > deadline.until - time.monotonic()
            if attempt == MOST_TRIES or status is None or status == files.NO or no_time:
                return Supervised(_known_so_far(folder, _STOPPED if status is None else _DIED), details, run)


def _run(folder: Path, stop: float, environment: dict[str, str]) -> int | None:
    """The exit status of the grading process; None where it had to be stopped. Nothing that it started is left.

    What this process had started before is left alone.
    """
    before = frozenset(children())
    process = subprocess.Popen(
        [sys.executable, "-I", "-B", "-m", files.PROCESS, str(folder)],
        env=environment,
        cwd="/",
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(max(0.1, stop - time.monotonic()))
    except (subprocess.TimeoutExpired, StopRequested):
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        _end_what_is_left(before)


def _end_what_is_left(before: Collection[int]) -> None:
    """The fork server ends its workers and itself when its grader is gone; what has not after a while is killed.

    Children of this process that were there `before` are somebody else's, and so is what became of them.
    """
    end = time.monotonic() + _SETTLING
    while left := [pid for pid in children() if pid not in before]:
        for pid in left:
            if time.monotonic() > end:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.02)


def grading_environment() -> dict[str, str]:
    """The variables of the grading process: nothing of the platform's but where programs are, and its threads."""
    threads = str(processors.whole())
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "TZ") if name in os.environ}
    return {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "LANG": "C.UTF-8",
        **kept,
        # What the grader has freed goes back at once: of the reference in long sequences that is some 16 MB.
        "MALLOC_ARENA_MAX": "1",
        "MALLOC_MMAP_THRESHOLD_": "1048576",
        "MALLOC_TRIM_THRESHOLD_": "1048576",
        "OMP_NUM_THREADS": threads,
        "MKL_NUM_THREADS": threads,
        "OPENBLAS_NUM_THREADS": threads,
    }


# ------------------------------------------------------------------ what it left


def _read_grade(path: Path) -> Grade | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Grade)
    except (OSError, msgspec.DecodeError):
        return None


def _report(folder: Path) -> dict[str, Any]:
    try:
        return msgspec.json.decode((folder / files.REPORT).read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.DecodeError):
        return {}


def _how_it_ended(folder: Path, status: int | None, attempt: int) -> str:
    try:
        refused = (folder / files.REFUSED).read_text(encoding="utf-8")
    except OSError:
        refused = ""
    if refused:
        return refused
    if status is None:
        return f"Try {attempt}: {_STOPPED}."
    how = f"was killed by signal {-status}" if status < 0 else f"ended with exit status {status}"
    hint = " (for want of memory, most likely)" if status == -signal.SIGKILL else ""
    return f"Try {attempt}: the grader {how}{hint}. What it said stands in the output of the autograder."


def _known_so_far(folder: Path, reason: str) -> Grade | None:
    """The results that there were, the others as not reached; None where it had not begun to check."""
    plan = _read_grade(folder / files.PLAN)
    if plan is None:
        return None
    known: dict[str, CheckResult] = {}
    with suppress(OSError):
        for line in (folder / files.PROGRESS).read_bytes().split(b"\n"):
            with suppress(msgspec.DecodeError):
                result = msgspec.json.decode(line, type=CheckResult)
                known[result.number] = result
    checks = tuple(known.get(check.number, check) for check in plan.checks)
    parts = tuple(
        msgspec.structs.replace(
            part, points=round(math.fsum(check.score for check in checks if check.part == part.part), 6)
        )
        for part in plan.parts
    )
    points = round(math.fsum(part.points for part in parts), 6)
    return msgspec.structs.replace(plan, checks=checks, parts=parts, points=points, reason=reason)
