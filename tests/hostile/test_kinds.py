"""Every hostile submission gets exactly what it is worth, harms nobody after it, and leaves nothing behind.

In `make soak` all are graded, and an honest one follows each; else all that lie or exhaust, a selection of the others,
and an honest one follows each sixth.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from autograder.assignment.assignment import Assignment
from autograder.grading import workers
from autograder.intake.finding import find_submissions
from autograder.report.view import explained
from autograder.results import Grade
from autograder.run.pool import Job, grade_all
from autograder.run.session import Session
from tests.hostile.assignment import hostile_assignment
from tests.hostile.kinds import ALL, RIGHT, Kind, exhaustion, forging, honest, odd_values, reaching
from tests.hostile.remains import remains
from tests.hostile.soak import SOAK, times

KINDS: list[Kind] = [*honest.KINDS, *forging.KINDS, *odd_values.KINDS, *exhaustion.KINDS, *reaching.KINDS]
QUICK = [kind for kind in KINDS if not kind.waits]
CHOSEN = [
    *honest.KINDS,
    *forging.KINDS,
    *exhaustion.KINDS,
    *odd_values.KINDS[:: times(1, 2)],
    *reaching.KINDS[:: times(1, 3)],
]
FOLLOWED = 1 if SOAK else 6
GROUPS = [[kind for kind in CHOSEN[start::4] if not kind.waits] for start in range(4)]
WAITING = [kind for kind in KINDS if kind.waits]


def hand_in(folder: Path, kinds: Sequence[Kind], assignment: Assignment) -> Path:
    """Each kind, and an honest submission after it."""
    places = {"hidden": assignment.hidden, "checks": assignment.hidden.parent, "solutions": assignment.solutions}
    for number, kind in enumerate(kinds):
        source = kind.source
        for name, path in places.items():
            source = source.replace("{" + name + "}", str(path))
        home = folder / f"{number:03}_{kind.name}"
        home.mkdir(parents=True)
        (home / "numbers_part.py").write_bytes(source.encode("utf-8", "surrogatepass"))
        for name, content in kind.files.items():
            (home / name).write_text(content)
        if (number + 1) % FOLLOWED and kind is not kinds[-1]:
            continue
        after = folder / f"{number:03}_{kind.name}_then"
        after.mkdir()
        (after / "numbers_part.py").write_text(RIGHT)
    return folder


def graded(kinds: Sequence[Kind], assignment: Assignment, folder: Path, session: Session) -> dict[str, Grade]:
    """The grades by submission, in the order of grading: one grader, so that each honest one comes right after."""
    found = find_submissions(hand_in(folder / "handed_in", kinds, assignment), assignment)
    return {
        each.grade.submission: each.grade for each in grade_all(Job(assignment, found, folder / "grades"), session, 1)
    }


def judged(kinds: Sequence[Kind], grades: dict[str, Grade]) -> list[str]:
    """What is not as it should be, in words."""
    faults: list[str] = []
    for number, kind in enumerate(kinds):
        grade, after = grades[f"{number:03}_{kind.name}"], grades.get(f"{number:03}_{kind.name}_then")
        if (grade.status, grade.points) != ("graded", kind.points):
            faults.append(f"{kind.name}: {grade.points} of {kind.points}, {_words(grade)}")
        if kind.told and (first := explained(grade.checks[0])) and kind.told not in first.cause:
            faults.append(f"{kind.name}: its student is told {first.cause!r}, {first.got[:200]!r}")
        if any("BREACH" in check.output for check in grade.checks):
            faults.append(f"{kind.name}: {next(c.output for c in grade.checks if 'BREACH' in c.output)[:300]}")
        if after is not None and (after.status, after.points) != ("graded", ALL):
            faults.append(f"after {kind.name}: {after.points}, {_words(after)}")
    return faults


def _words(grade: Grade) -> str:
    return f"{grade.status} {grade.reason} " + "; ".join(
        f"{check.number} {check.outcome} {check.score} {check.staff[-300:]}" for check in grade.checks
    )


def test_kinds_are_told_apart_by_name_and_many() -> None:
    names = [kind.name for kind in KINDS]
    assert len(set(names)) == len(names) >= 250
    assert sum(map(len, GROUPS)) >= 150


@pytest.mark.parametrize("kinds", GROUPS, ids=range(len(GROUPS)))
def test_each_kind_gets_what_it_is_worth_and_leaves_nothing(
    kinds: list[Kind], tmp_path: Path, session: Session
) -> None:
    faults = judged(kinds, graded(kinds, hostile_assignment(tmp_path), tmp_path, session)) + remains(session)
    assert not faults, "\n".join(faults)


def test_those_who_wait_are_ended_by_the_wall_clock(
    tmp_path: Path, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "wall_limit", lambda _seconds: 5.0)  # graders are forked from this process
    faults = judged(WAITING, graded(WAITING, hostile_assignment(tmp_path), tmp_path, session)) + remains(session)
    assert not faults, "\n".join(faults)
