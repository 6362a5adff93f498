"""Grades hostile or honest submissions under a profile: `python -m tests.hostile.confined PROFILE FOLDER WHAT ...`.

PROFILE is *root* (as this process is), *container* (root as in Docker), *plain* (the same on a kernel without Landlock)
or *user* (an ordinary user). WHAT is `hostile START STEP` (every STEP-th kind), or `honest ASSIGNMENT START STEP` (the
reference, every STEP-th variant). Prints how many there were, then what is not as it should be, one a line.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.hostile.container import into_a_container

ORDINARY_USER = 61_234
ROOT = Path(__file__).parents[2]
SHORT_WAIT = 5.0  # seconds for those who wait


def into_an_ordinary_user(folder: Path) -> None:
    """Become somebody else, who owns `folder` and all that is in it."""
    for path in (folder, *folder.rglob("*")):
        os.chown(path, ORDINARY_USER, ORDINARY_USER)
    os.setgroups([])
    os.setresgid(*[ORDINARY_USER] * 3)
    os.setresuid(*[ORDINARY_USER] * 3)
    os.environ.update(HOME=str(folder), TMPDIR=str(folder))


def hostile(folder: Path, profile: str, start: int, step: int) -> list[str]:
    """What some kinds got that they are not worth, and what they left behind."""
    from autograder.grading import workers
    from autograder.run.session import Session
    from tests.hostile.assignment import hostile_assignment
    from tests.hostile.remains import remains
    from tests.hostile.test_kinds import KINDS, graded, judged

    kinds = [kind.under(profile) for kind in KINDS[start::step]]
    print(f"{len(kinds)} kinds")
    assignment = hostile_assignment(folder)
    quick, waiting = ([kind for kind in kinds if kind.waits is waits] for waits in (False, True))
    faults: list[str] = []
    with Session() as session:
        session.wait_ready()
        session.prove(assignment)
        faults += judged(quick, graded(quick, assignment, folder / "quick", session))
        workers.wall_limit = lambda _seconds: SHORT_WAIT  # graders are forked from this process
        if waiting:
            faults += judged(waiting, graded(waiting, assignment, folder / "waiting", session))
        return faults + remains(session)


def honest(folder: Path, name: str, start: int, step: int) -> list[str]:
    """Which right solutions did not get full marks."""
    from autograder.assignment.assignment import load_assignment
    from autograder.authoring.proof.candidates import candidates_of
    from autograder.authoring.proof.proving import prove
    from autograder.run.session import Session

    assignment = load_assignment(folder / "assignments" / name)
    variants = [each.name for each in candidates_of(assignment) if each.kind == "variant"][start::step]
    print(f"{1 + len(variants)} solutions")
    with Session() as session:
        session.wait_ready()
        session.prove(assignment)
        report = prove(assignment, session, 1, ["reference", *variants])
    return [f"{shortfall.candidate}: {shortfall.sentence}" for shortfall in report.shortfalls]


def main(profile: str, folder: Path, what: str, *rest: str) -> None:
    if what == "honest":
        for kind in ("assignments", "solutions"):
            shutil.copytree(ROOT / kind / rest[0], folder / kind / rest[0])
        (folder / "assignments" / rest[0] / "checks" / "hidden").chmod(0o700)
        (folder / "solutions" / rest[0]).chmod(0o700)
    if profile in ("container", "plain"):
        into_a_container(landlock=profile == "container")
    elif profile == "user":
        into_an_ordinary_user(folder)
    faults: Sequence[str]
    if what == "honest":
        faults = honest(folder, rest[0], int(rest[1]), int(rest[2]))
    else:
        faults = hostile(folder, profile, int(rest[0]), int(rest[1]))
    print("\n".join(faults))


if __name__ == "__main__":
    os.umask(0o022)
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], *sys.argv[4:])
