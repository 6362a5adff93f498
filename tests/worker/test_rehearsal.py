"""The calls that the fork server rehearses: they come through, leave one thread, and leave nothing of the part."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

REHEARSE = """
import sys
import torch
from autograder.worker.forkserver import rehearsal
from autograder.worker.forkserver.processes import threads
{patch}
before = set(sys.modules), list(sys.path)
came_through = rehearsal.rehearse()
print(came_through, threads(), set(sys.modules) - before[0], list(sys.path) == before[1])
"""


def rehearsed(patch: str = "None", **variables: str) -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **variables}
    command = [sys.executable, "-c", REHEARSE.format(patch=patch)]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


def test_it_comes_through_on_one_thread_and_leaves_no_module() -> None:
    assert rehearsed() == "True 1 set() True\n"


@pytest.mark.parametrize(
    "patch",
    [
        "setattr(rehearsal, 'threads', lambda: 2)",
        "setattr(rehearsal.Executor, 'carry_out', lambda *_: 1 / 0)",
        "setattr(torch, 'softmax', lambda *_: 1 / 0)",
        "setattr(rehearsal.Executor, 'carry_out', lambda *_: __import__('os').kill(__import__('os').getpid(), 9))",
    ],
    ids=["another thread", "an error of ours", "an error of the part's", "a crash"],
)
def test_where_a_copy_does_not_come_through_nothing_is_rehearsed(patch: str) -> None:
    assert rehearsed(patch) == "False 1 set() True\n"
