"""The same attacks under Docker's default profile and as an ordinary user: a selection, all of them in `make soak`."""

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
pytestmark = [
    pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can become somebody else"),
    pytest.mark.timeout(3000 if SOAK else 280),
]


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="softmark-test-") as top:
        Path(top).chmod(0o755)
        yield Path(top)


def open_to_all(path: Path) -> bool:
    return all(each.stat().st_mode & 0o005 == 0o005 for each in (path, *path.parents))


@pytest.mark.parametrize("profile", ["container", "user"])
def test_each_kind_gets_what_it_is_worth(profile: str, folder: Path) -> None:
    closed = [str(path) for path in (ROOT, Path(sys.prefix), Path(sys.base_prefix)) if not open_to_all(path)]
    if profile == "user" and closed:
        pytest.skip(f"an ordinary user cannot read {closed[0]}")
    arguments = [sys.executable, "-m", "tests.hostile.confined", profile, str(folder)]
    done = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=False)
    first, *faults = done.stdout.splitlines() or [""]
    assert first.endswith(" kinds"), done.stderr[-3000:]
    assert not any(faults), "\n".join(faults) + done.stderr[-2000:]
