"""A class of submissions: Softmark's whole command against one fresh pytest process for each submission.

Both run the same check file (`benchmarks/small`), two side by side. Plain pytest imports the submission into the
process that judges it, which is what Softmark does not do; it is the fastest of the peers.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch

from autograder.assignment.assignment import load_assignment
from autograder.testing.cases import Cases
from benchmarks.boundary import SMALL, module_of
from benchmarks.measure import Row, cpu_seconds

CLASS = 200
SMALL_CLASS = 40
TRIES = 2
FRESH = 6
CHECKS = 6

_CONFTEST = """
import sys
import pytest
sys.path.insert(0, {submission!r})
import six_handed_in

@pytest.fixture
def student():
    return six_handed_in

@pytest.fixture
def reference():
    import importlib.util
    spec = importlib.util.spec_from_file_location("six_reference", {reference!r})
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

@pytest.fixture
def cases(request):
    from autograder.testing.cases import Cases
    return Cases(b"six", request.node.name)
"""


def rows() -> list[Row]:
    """Submissions a minute of both, their ratio, and what a check and a submission cost above the functions."""
    assignment = load_assignment(SMALL)
    solution = assignment.solutions / "six.py"
    with tempfile.TemporaryDirectory() as top:
        for submissions in (CLASS, SMALL_CLASS):
            _write_class(Path(top), submissions, solution)
        softmark, all_cpu = _softmark(Path(top), CLASS)
        alone, _ = _softmark(Path(top), SMALL_CLASS, graders=1)
        alone_one, _ = _softmark(Path(top), SMALL_CLASS, "--only", "1.2", graders=1)
        peer = _fresh_pytest(Path(top), assignment.folder / "checks" / "test_six.py", solution)
        _, one_cpu = _softmark(Path(top), CLASS, "--only", "1.2")
        _, start_cpu = _softmark(Path(top), SMALL_CLASS, "--only", "1.2")
    functions = _functions_alone(solution)
    a_check = 1000 * ((all_cpu - one_cpu) / CLASS - functions) / (CHECKS - 1)
    waiting = 1000 * (60 / alone - 60 / alone_one - functions) / (CHECKS - 1)
    a_submission = 1000 * (one_cpu - start_cpu) / (CLASS - SMALL_CLASS) - a_check
    return [
        Row(
            f"a class of {CLASS} x {CHECKS} checks: the whole command against fresh pytest processes",
            f"{softmark:.0f} and {peer:.0f} a minute: {softmark / peer:.1f} times",
            "at least 20 times",
            softmark / peer >= 20,
        ),
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


def _fresh_pytest(top: Path, checks: Path, solution: Path) -> float:
    """Submissions a minute, the better of a few tries."""
    folders: list[Path] = []
    for number in range(FRESH):
        folder = top / f"fresh_{number}"
        (folder / "submission").mkdir(parents=True)
        shutil.copy(solution, folder / "submission" / "six_handed_in.py")
        shutil.copy(checks, folder / "test_six.py")
        conftest = _CONFTEST.format(submission=str(folder / "submission"), reference=str(solution))
        (folder / "conftest.py").write_text(conftest)
        folders.append(folder)

    def run(folder: Path) -> None:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)

    tries: list[float] = []
    for _ in range(TRIES):
        start = time.perf_counter()
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(run, folders))
        tries.append(60 * FRESH / (time.perf_counter() - start))
    return max(tries)


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
