"""The whole of assignment 08 once: what grading a perfect submission of six parts takes, and a slow but right one.

CPU time is that of the command and all its processes: grader, fork server, every worker. Memory is sampled while it
runs: what each process has of its own and its part of what they share by forking, and once the libraries on disk that
all of them have in memory (those of the largest). The limits are those of the project: 90 s, 700 MB.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from autograder.assignment.bank import overlay
from benchmarks.measure import Row

ROOT = Path(__file__).resolve().parents[1]
ASSIGNMENT = ROOT / "assignments" / "08_transformers"
SOLUTIONS = ROOT / "solutions" / "08_transformers"
SECONDS, MEGABYTES, EVERY = 90, 700, 0.05
SLOW = {
    "tokens": ("recounts_everything", "merges_replayed", "patches_by_loops"),
    "attention": ("one_query_at_a_time", "loop_over_heads"),
    "positions": ("number_by_number",),
    "message_passing": ("loops_everywhere",),
    "efficient": ("one_query_at_a_time",),
    "experiments": ("sequences_by_loops", "attention_by_hand"),
}
"""Variants that spell out in loops what others leave to torch."""


def rows() -> list[Row]:
    """CPU time and memory of both, which must have full marks."""
    return [*_rows("a perfect submission of six parts", {}), *_rows("the same in slow loops", SLOW)]


def _rows(what: str, variants: dict[str, tuple[str, ...]]) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="softmark-whole-") as top:
        Path(top).chmod(0o755)
        folder = Path(top) / "submission"
        _write(folder, variants)
        points, seconds, megabytes = _grade(folder, Path(top) / "grades")
    full = points == 100
    return [
        Row(f"{what}: CPU", f"{seconds:.0f} s, {points:g} points", f"at most {SECONDS} s", full and seconds <= SECONDS),
        Row(f"{what}: peak of memory", f"{megabytes:.0f} MB", f"at most {MEGABYTES} MB", megabytes <= MEGABYTES),
    ]


def _write(folder: Path, variants: dict[str, tuple[str, ...]]) -> None:
    """The reference with variants laid over it, and its weights."""
    folder.mkdir()
    for path in SOLUTIONS.iterdir():
        if path.suffix == ".safetensors":
            shutil.copy(path, folder)
        elif path.suffix == ".py":
            source = path.read_text(encoding="utf-8")
            for name in variants.get(path.stem, ()):
                laid_over = SOLUTIONS / "variants" / path.stem / f"{name}.py"
                source = overlay(source, laid_over.read_text(encoding="utf-8"))
            (folder / path.name).write_text(source, encoding="utf-8")


def _grade(submission: Path, out: Path) -> tuple[float, float, float]:
    """Points, CPU seconds, and the peak of memory in MB."""
    command = [sys.executable, "-m", "autograder.cli", "grade", str(ASSIGNMENT), str(submission), "-o", str(out)]
    before, peak = _seconds_of_children(), 0
    with subprocess.Popen([*command, "-j", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, memory_kib(process.pid))
            time.sleep(EVERY)
    grade = json.loads(next(out.glob("*/grade.json")).read_text(encoding="utf-8"))
    return grade["points"], _seconds_of_children() - before, peak * 1024 / 1e6


def _seconds_of_children() -> float:
    """CPU time of what has been waited for; looking at memory costs this process some of its own."""
    times = os.times()
    return times.children_user + times.children_system


def memory_kib(first: int) -> int:
    """KiB of a process and all that came from it."""
    own, on_disk = 0, 0
    for pid in _family(first):
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
        except OSError:  # it has just ended
            continue
        held = {line.split(":")[0]: int(line.split()[1]) for line in lines}
        own += held["Pss_Anon"] + held["Pss_Shmem"]
        on_disk = max(on_disk, held["Rss"] - held["Anonymous"])
    return own + on_disk


def _family(first: int) -> list[int]:
    """A process and its children, their children, and so on."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    family = [first]
    for member in family:
        family += [pid for pid, parent in parents.items() if parent == member]
    return family
