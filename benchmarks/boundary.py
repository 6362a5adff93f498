"""What the boundary costs: a call through it against the call itself, and a fresh worker."""

from __future__ import annotations

import importlib.util
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch

from autograder.assignment.assignment import load_assignment
from autograder.grading.line import Line
from autograder.grading.proxy import Student
from autograder.sandbox.connection import Connection, Limits, wait_ready
from autograder.sandbox.launch import ForkServer
from autograder.worker.protocol.messages import Load
from benchmarks.measure import Row, median_ms

SMALL = Path(__file__).parent / "small" / "assignments" / "six"
CALLS = 300
WORKERS = 60


class Through:
    """A transport without the bookkeeping of limits."""

    def __init__(self, worker) -> None:
        self.worker = worker

    def request(self, message):
        return self.worker.request(message, cpu_seconds=10, wall_seconds=40)


def rows() -> list[Row]:
    """Calls of `attention` and `softmax` on small tensors, direct and through a worker; workers from fork to last
    process gone.
    """
    solution = load_assignment(SMALL).solutions / "six.py"
    direct = module_of(solution)
    torch.manual_seed(0)
    q, k, v = torch.randn(2, 5, 11), torch.randn(2, 7, 11), torch.randn(2, 7, 13)
    with tempfile.TemporaryDirectory() as top, ForkServer.launch() as server:
        Path(top).chmod(0o755)
        folder = Path(top) / "submission"
        folder.mkdir(mode=0o755)
        (folder / "six.py").write_bytes(solution.read_bytes())
        wait_ready(server)
        with Connection(server) as connection:
            worker = connection.spawn(folder, ["six"])
            student = Student(Line(Through(worker), "six"))
            worker.request(Load("six"), cpu_seconds=10, wall_seconds=40)
            attention, softmax = student.attention, student.softmax
            found = [
                _call("softmax", lambda: softmax(q, -1), lambda: direct.softmax(q, -1)),
                _call("attention", lambda: attention(q, k, v), lambda: direct.attention(q, k, v)),
            ]
            worker.close()
            connection.settle()
            fresh = median_ms(lambda: _one_worker(connection, folder), WORKERS)
            what = "a fresh worker, from fork to last process gone"
            found.append(Row(what, f"{fresh:.1f} ms", "at most 25 ms", fresh <= 25))
            found.append(_layers(connection, folder, server))
    return found


def _call(name: str, through: Callable[[], object], direct: Callable[[], object]) -> Row:
    above = median_ms(through, CALLS) - median_ms(direct, CALLS)
    what = f"a call of {name} through the boundary, above the call itself"
    return Row(what, f"{above:.2f} ms", "at most 1.5 ms", above <= 1.5)


def _layers(connection: Connection, folder: Path, server: ForkServer) -> Row:
    """What seccomp and Landlock add until a worker is ready, measured in turns with workers without them."""
    optional = tuple({"seccomp", "landlock"} - set(wait_ready(server).missing))
    taken = {(): [], optional: []}
    for _ in range(WORKERS):
        for without in taken:
            start = time.perf_counter()
            worker = connection.spawn(folder, ["six"], Limits(without=without))
            worker.wait_ready()
            taken[without].append(1000 * (time.perf_counter() - start))
            worker.close()
            connection.settle()
    added = statistics.median(taken[()]) - statistics.median(taken[optional])
    what = f"layers of a worker: what {' and '.join(sorted(optional)) or 'nothing'} adds until it is ready"
    return Row(what, f"{added:.1f} ms", "at most 10 ms", added <= 10)


def _one_worker(connection: Connection, folder: Path) -> None:
    worker = connection.spawn(folder, ["six"])
    worker.wait_ready()
    worker.close()
    connection.settle()


def module_of(path: Path):
    spec = importlib.util.spec_from_file_location("six_direct", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
