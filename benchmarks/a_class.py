"""A class of submissions: what a check and a submission cost in a warm batch, above the functions that are called.

How that compares with other graders is measured by `benchmarks.peers`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

from autograder.assignment.assignment import load_assignment
from autograder.testing.cases import Cases
from benchmarks.boundary import SMALL, module_of
from benchmarks.measure import Row, cpu_seconds

CLASS = 200
SMALL_CLASS = 40
TRIES = 2
CHECKS = 6


def rows() -> list[Row]:
    """CPU time of a check and of a submission above the functions, and what is waited for a check."""
    assignment = load_assignment(SMALL)
    solution = assignment.solutions / "six.py"
    with tempfile.TemporaryDirectory() as top:
        for submissions in (CLASS, SMALL_CLASS):
            _write_class(Path(top), submissions, solution)
        _, all_cpu = _softmark(Path(top), CLASS)
        alone, _ = _softmark(Path(top), SMALL_CLASS, graders=1)
        alone_one, _ = _softmark(Path(top), SMALL_CLASS, "--only", "1.2", graders=1)
        _, one_cpu = _softmark(Path(top), CLASS, "--only", "1.2")
        _, start_cpu = _softmark(Path(top), SMALL_CLASS, "--only", "1.2")
    functions = _functions_alone(solution)
    a_check = 1000 * ((all_cpu - one_cpu) / CLASS - functions) / (CHECKS - 1)
    waiting = 1000 * (60 / alone - 60 / alone_one - functions) / (CHECKS - 1)
    a_submission = 1000 * (one_cpu - start_cpu) / (CLASS - SMALL_CLASS) - a_check
    return [
        Row("CPU of a check in a warm batch, above its functions", f"{a_check:.1f} ms", "at most 20 ms", a_check <= 20),
        Row("waiting for a check, one grader alone", f"{waiting:.1f} ms", "at most 12.5 ms", waiting <= 12.5),
        Row(
            "CPU of a submission in a warm batch, above its checks",
            f"{a_submission:.1f} ms",
            "at most 30 ms",
            a_submission <= 30,
        ),
    ]


def _write_class(top: Path, submissions: int, solution: Path) -> None:
    for number in range(submissions):
        folder = top / f"class_{submissions}" / f"student_{number:03}"
        folder.mkdir(parents=True)
        shutil.copy(solution, folder / "six.py")


def _softmark(top: Path, submissions: int, *words: str, graders: int = 2) -> tuple[float, float]:
    """Submissions a minute, and CPU seconds in all: the better of a few tries, as other work only adds."""
    tries: list[tuple[float, float]] = []
    for number in range(TRIES):
        out = top / f"out_{submissions}_{graders}_{'_'.join(words)}_{number}"
        command = [sys.executable, "-m", "autograder.cli", "grade", str(SMALL), str(top / f"class_{submissions}")]
        start, cpu = time.perf_counter(), cpu_seconds()
        subprocess.run([*command, "-o", str(out), "-j", str(graders), *words], check=True, capture_output=True)
        tries.append((60 * submissions / (time.perf_counter() - start), cpu_seconds() - cpu))
    return max(rate for rate, _ in tries), min(cpu for _, cpu in tries)


def _functions_alone(solution: Path) -> float:
    """CPU seconds of the student's own functions in all six checks, called directly."""
    module = module_of(solution)
    cases = Cases(b"six", "alone")
    times = 50
    cpu = cpu_seconds()
    for _ in range(times):
        for shape in [(3,), (2, 5), (2, 3, 5), (2, 3, 5), (3, 5)]:
            module.softmax(torch.zeros(shape), -1)
        for q, k, v in cases.attention():
            module.attention(q, k, v)
    return (cpu_seconds() - cpu) / times
