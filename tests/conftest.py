"""What tests share: one fork server for all that grade in one module, as one run has one."""

from __future__ import annotations

import os

os.environ.setdefault(
    "OMP_NUM_THREADS", "1"
)  # graders are forked from this process, and an OpenMP pool does not survive that

import hypothesis
import pytest

hypothesis.settings.register_profile("same every time", derandomize=True, deadline=None)
hypothesis.settings.load_profile("same every time")


@pytest.fixture(scope="module")
def session():
    """A grading session whose fork server is warm."""
    from autograder.run.session import Session

    with Session() as running:
        running.wait_ready()
        yield running
