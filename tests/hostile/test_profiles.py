"""Hostile and honest submissions as in a container and as an ordinary user: a tenth, all of them in `make soak`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.soak import SOAK

ROOT = Path(__file__).parents[2]
SLICES = 4
# Another tenth for each profile.
HOSTILE = [(start, SLICES) for start in range(SLICES)] if SOAK else [(4, 10)]
HONEST = [("08_transformers", start, SLICES) for start in range(SLICES)] if SOAK else [("00_warmup", 0, 1)]
pytestmark = [
    pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can become somebody else"),
    pytest.mark.timeout(3000 if SOAK else 280),
]


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="softmark-test-") as top:
        Path(top).chmod(0o755)
        home = Path(top) / "home"  # which the ordinary user is given
        home.mkdir()
        yield home


def open_to_all(path: Path) -> bool:
    return all(each.stat().st_mode & 0o005 == 0o005 for each in (path, *path.parents))


def faults_under(profile: str, folder: Path, *what: object) -> list[str]:
    closed = [str(path) for path in (ROOT, Path(sys.prefix), Path(sys.base_prefix)) if not open_to_all(path)]
    if profile == "user" and closed:
        pytest.skip(f"an ordinary user cannot read {closed[0]}")
    arguments = [sys.executable, "-m", "tests.hostile.confined", profile, str(folder), *map(str, what)]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=False)
    first, *faults = done.stdout.splitlines() or [""]
    assert first.endswith((" kinds", " solutions")) and done.returncode == 0, done.stderr[-3000:]
    return [fault for fault in faults if fault]


@pytest.mark.parametrize("profile", ["container", "plain", "user"])
@pytest.mark.parametrize(("start", "step"), HOSTILE)
def test_each_kind_gets_what_it_is_worth(profile: str, start: int, step: int, folder: Path) -> None:
    start += profile == "user" and not SOAK
    assert faults_under(profile, folder, "hostile", start, step) == []


@pytest.mark.parametrize("profile", ["container", "plain", "user"])
@pytest.mark.parametrize(("assignment", "start", "step"), HONEST)
def test_right_solutions_get_full_marks(profile: str, assignment: str, start: int, step: int, folder: Path) -> None:
    assert faults_under(profile, folder, "honest", assignment, start, step) == []
