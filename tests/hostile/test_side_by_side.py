"""Two graders of two assignments at once, each with a hostile class and one honest hand-in: all get their due."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.grading import record
from tests.hostile.assignment import hostile_assignment
from tests.hostile.kinds import ALL, RIGHT, exhaustion, forging, odd_values, reaching
from tests.hostile.soak import SOAK
from tests.hostile.test_kinds import hand_in

ROOT = Path(__file__).parents[2]
KINDS = [kind for kind in (*forging.KINDS, *odd_values.KINDS, *exhaustion.KINDS, *reaching.KINDS) if not kind.waits]
CLASSES = [KINDS[start :: 2 if SOAK else 16] for start in range(2)]
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="workers need Linux")


@pytest.fixture
def folders() -> Iterator[list[Path]]:
    with tempfile.TemporaryDirectory(prefix="softmark-test-") as top:
        Path(top).chmod(0o755)
        made = [Path(top) / name for name in ("first", "second")]
        for folder in made:
            folder.mkdir()
        yield made


@pytest.mark.timeout(280 if not SOAK else 3000)
def test_two_graders_at_once_give_each_of_two_hostile_classes_what_it_is_worth(folders: list[Path]) -> None:
    runs: list[subprocess.Popen[bytes]] = []
    for folder, kinds in zip(folders, CLASSES, strict=True):
        hand_in(folder / "handed_in", kinds, hostile_assignment(folder))
        honest = folder / "handed_in" / "999_honest"
        honest.mkdir()
        (honest / "numbers_part.py").write_text(RIGHT)
        arguments = [sys.executable, "-m", "tests.hostile.grading_run", str(folder)]
        environment = {**os.environ, "TMPDIR": str(folder)}
        runs.append(subprocess.Popen(arguments, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL))
    assert [run.wait() for run in runs] == [0, 0]
    faults: list[str] = []
    for folder, kinds in zip(folders, CLASSES, strict=True):
        worth = {f"{number:03}_{kind.name}": kind.points for number, kind in enumerate(kinds)} | {"999_honest": ALL}
        for name, points in worth.items():
            grade = record.read(folder / "grades", name)
            if grade is None or (grade.status, grade.points) != ("graded", points):
                faults.append(f"{name}: {grade and (grade.status, grade.points)} is not {points}")
        faults += [str(path) for path in folder.glob("softmark-run-*")]
    assert faults == []
