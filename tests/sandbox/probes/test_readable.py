"""The probe names the folder that workers cannot read."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.errors import GraderError, SoftmarkError
from autograder.sandbox.launch import ForkServer
from autograder.sandbox.probes.readable import probe


@pytest.fixture
def closed_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="softmark-test-"))
    (folder / "inside").mkdir()
    folder.chmod(0o700 if os.geteuid() == 0 else 0)
    yield folder
    folder.chmod(0o700)
    shutil.rmtree(folder)


def test_what_a_worker_needs_can_be_read(server: ForkServer, open_folder: Path) -> None:
    probe(server, [open_folder])


def test_a_closed_folder_on_the_way_is_named(server: ForkServer, closed_folder: Path) -> None:
    with pytest.raises(SoftmarkError) as caught:
        probe(server, [closed_folder / "inside"])
    assert str(caught.value).startswith(f"Workers cannot read {closed_folder}: the folder is closed to other users.")
    assert caught.value.exit_code == 1
    assert not isinstance(caught.value, GraderError)


def test_a_folder_that_is_not_there_is_no_closed_folder(server: ForkServer, tmp_path: Path) -> None:
    with pytest.raises(SoftmarkError):
        probe(server, [tmp_path / "nowhere"])
