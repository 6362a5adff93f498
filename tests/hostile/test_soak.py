"""A thousand mixed submissions in one run: memory, descriptors and processes of grader and fork server stay flat."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograder.intake.finding import find_submissions
from autograder.run.pool import Job, grade_all
from autograder.run.session import Session
from tests.hostile.assignment import hostile_assignment
from tests.hostile.kinds import ALL, RIGHT, WRONG, Kind, forging, odd_values, reaching
from tests.hostile.remains import remains
from tests.hostile.soak import times
from tests.hostile.test_faults import children

SUBMISSIONS = times(1000)
MIXED = [
    Kind("right", ALL, RIGHT),
    Kind("wrong", 0, WRONG),
    *(kind for kind in (*forging.KINDS, *odd_values.KINDS, *reaching.KINDS) if not kind.waits and len(kind.files) == 0),
]
MOST_GROWTH = 48 << 20  # bytes, of which the largest frame, while it is looked at, is most


def figures(pid: int) -> tuple[int, int, int]:
    """Resident bytes, open descriptors, child processes of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE"), len(os.listdir(f"/proc/{pid}/fd")), len(children().get(pid, []))


@pytest.mark.timeout(280 if SUBMISSIONS <= 100 else 3000)
def test_a_long_run_stays_flat(tmp_path: Path, session: Session) -> None:
    worth: dict[str, float] = {}
    for number in range(SUBMISSIONS):
        kind = MIXED[0] if number % 2 else MIXED[number // 2 * 7 % len(MIXED)]
        name = f"{number:04}_{kind.name}"
        home = tmp_path / "handed_in" / name
        home.mkdir(parents=True)
        (home / "numbers_part.py").write_bytes(kind.source.encode("utf-8", "surrogatepass"))
        worth[name] = kind.points
    assignment = hostile_assignment(tmp_path)
    found = find_submissions(tmp_path / "handed_in", assignment)
    before = set(children().get(os.getpid(), []))
    seen: list[dict[int, tuple[int, int, int]]] = []
    for done in grade_all(Job(assignment, found, tmp_path / "grades"), session, 1):
        assert (done.grade.status, done.grade.points) == ("graded", worth[done.grade.submission]), done.grade.submission
        (grader,) = set(children().get(os.getpid(), [])) - before
        seen.append({pid: figures(pid) for pid in (grader, session.server.pid)})
    early, late = seen[SUBMISSIONS // 3], seen[-1]
    assert early.keys() == late.keys(), "a grader died"
    for pid, (memory, descriptors, processes) in late.items():
        print(f"{pid}: {early[pid][0] >> 20} to {memory >> 20} MiB, {descriptors} descriptors, {processes} processes")
        assert memory - early[pid][0] < MOST_GROWTH
        assert descriptors <= max(figure[pid][1] for figure in seen[: SUBMISSIONS // 3])
        assert (
            processes <= max(figure[pid][2] for figure in seen[: SUBMISSIONS // 3]) + 1
        )  # a worker that is just ending
    assert remains(session) == []
