"""What tests share: one fork server for a test process, as one run has one."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault(
    "OMP_NUM_THREADS", "1"
)  # graders are forked from this process, and an OpenMP pool does not survive that

import hypothesis
import pytest

hypothesis.settings.register_profile("same every time", derandomize=True, deadline=None)
hypothesis.settings.load_profile("same every time")


@pytest.fixture(scope="session")
def only_session():
    """The one grading session of this test process."""
    from autograder.run.session import Session

    with Session() as running:
        running.wait_ready()
        yield running


@pytest.fixture(scope="module")
def session(only_session):
    """A grading session whose fork server is warm. One that the tests of another module have killed is replaced."""
    from autograder.errors import GraderError

    try:
        only_session.wait_ready()
    except GraderError:
        only_session.replace_server()
    return only_session


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can read (`tmp_path` lies below a closed one)."""
    folder = Path(tempfile.mkdtemp(prefix="softmark-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)
