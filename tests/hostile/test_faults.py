"""Workers, fork server, graders and whole runs killed at random moments: nothing is lost, doubled or half written."""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from autograder.grading import record
from autograder.report.gradescope_schema import read_results
from autograder.results import from_json
from tests.hostile.assignment import hostile_assignment
from tests.hostile.kinds import ALL, RIGHT
from tests.hostile.soak import SOAK, times

KILLS = times(200)
SUBMISSIONS = 10
ROOT = Path(__file__).parents[2]
MOMENTS = 1000  # looks for a victim at most so often in one run
pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs process descriptors")


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="softmark-test-") as top:
        Path(top).chmod(0o755)
        yield Path(top)


class Run:
    """A grading run, and the processes that belong to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "tmp").mkdir(exist_ok=True)
        environment = {**os.environ, "TMPDIR": str(folder / "tmp")}
        with (folder / "log").open("ab") as log:
            arguments = [sys.executable, "-m", "tests.hostile.grading_run", str(folder)]
            self.process = subprocess.Popen(arguments, cwd=ROOT, env=environment, stdout=log, stderr=log)

    def ended_within(self, seconds: float) -> bool:
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        return self.process.poll() is not None

    def processes(self) -> dict[str, list[int]]:
        """Process ids by what they are."""
        family = children()
        ours = family.get(self.process.pid, [])
        servers = [pid for pid in ours if b"softmark_worker" in command(pid)]
        workers = [pid for server in servers for pid in family.get(server, []) if uid(pid) not in (os.geteuid(), -1)]
        graders = [pid for pid in ours if pid not in servers and b"grading_run" in command(pid)]
        return {"worker": workers, "server": servers, "grader": graders, "all": [self.process.pid] if servers else []}

    def kill(self, what: str, chance: random.Random) -> bool:
        """Kill one process of that kind, or the whole family. Whether there was one."""
        there = self.processes()
        if not there[what]:
            return False
        victims = [chance.choice(there[what])] if what != "all" else [pid for pids in there.values() for pid in pids]
        for pid in victims:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if what == "all":
            wait_for_the_end(there["worker"])
            self.process.wait()
        return True


def children() -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        with suppress(OSError, IndexError, ValueError):
            parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            found.setdefault(parent, []).append(pid)
    return found


def command(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def uid(pid: int) -> int:
    with suppress(OSError):
        return os.stat(f"/proc/{pid}").st_uid if os.geteuid() else int(_status(pid).get("Uid", "-1").split()[0])
    return -1


def _status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def wait_for_the_end(pids: list[int]) -> None:
    """Workers die with the fork server."""
    for pid in pids:
        with suppress(ProcessLookupError):
            descriptor = os.pidfd_open(pid)
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            assert poll.poll(20_000), f"worker {pid} outlives the run"
            os.close(descriptor)


def assert_whole(grades: Path) -> dict[str, tuple[int, int]]:
    """Every file that is there is whole; which grades are final, and when each was written."""
    final: dict[str, tuple[int, int]] = {}
    for path in grades.glob("*/grade.json"):
        grade = from_json(path.read_bytes())
        assert (path.parent / "results.json").exists()
        if grade.status == "graded":
            status = path.stat()
            final[path.parent.name] = (status.st_ino, status.st_mtime_ns)
    for path in grades.glob("*/results.json"):
        read_results(path.read_bytes())
    return final


@pytest.mark.skipif(os.geteuid() != 0, reason="workers are told apart by their user ids")
@pytest.mark.timeout(280 if KILLS < 50 else 3000)
def test_nothing_is_lost_or_graded_twice_whatever_is_killed(folder: Path) -> None:
    hostile_assignment(folder)
    for number in range(SUBMISSIONS):
        (folder / "handed_in" / f"student_{number:02}").mkdir(parents=True)
        (folder / "handed_in" / f"student_{number:02}" / "numbers_part.py").write_text(RIGHT)
    chance, kills, rounds = random.Random(7), 0, 0
    while kills < KILLS:
        rounds += 1
        victims = ["worker"] if rounds % 2 else [*["grader"] * (3 if SOAK else 8), "server", "all"]
        kills += one_round(folder, victims, KILLS - kills, chance)
    assert kills >= KILLS


def one_round(folder: Path, victims: list[str], most: int, chance: random.Random) -> int:
    """Grade everything anew, killing `victims` on the way, and resuming until all is graded. Returns the kills."""
    grades = folder / f"grades_{chance.random()}"
    (folder / "grades").unlink(missing_ok=True)
    grades.mkdir()
    (folder / "grades").symlink_to(grades)
    kills, final = 0, dict[str, tuple[int, int]]()
    for _ in range(20):
        run, before = Run(folder), final
        quiet = kills >= min(most, 10)
        for _ in range(MOMENTS):
            if run.ended_within(300.0 if quiet else chance.uniform(0.0, 0.1)):
                break
            kills += run.kill(chance.choice(victims), chance)
            quiet = kills >= min(most, 10)
            assert_whole(grades)
        assert run.ended_within(300.0)
        final = assert_whole(grades)
        assert {name: final[name] for name in before} == before, "a grade was lost, or made twice"
        if run.process.returncode == 0 and len(final) == SUBMISSIONS:
            break
    assert list((folder / "tmp").iterdir()) == [], "what killed runs left behind is still there"
    points = [record.read(grades, name).points for name in final]
    assert len(points) == SUBMISSIONS, (folder / "log").read_text()[-3000:]
    if "worker" not in victims:  # a worker that was killed cannot be told from one that killed itself
        assert points == [ALL] * SUBMISSIONS, (folder / "log").read_text()[-3000:]
    return kills
