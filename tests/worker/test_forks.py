"""What makes a fork cheap: a heap without holes, and no handlers around it."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

_FILL = """
blocks = [bytes(size % 3000) for size in range(20_000)]
kept = blocks[::2]
del blocks
from autograder.worker.forkserver.heap import fill_holes
holes = fill_holes()
top = max(map(id, kept))
print(holes < 1024, all(id(bytes(size)) > top for size in range(40, 3000, 7)))
"""
_FORK = """
import os
from autograder.worker.forkserver.forking import without_handlers
register = os.register_at_fork
with without_handlers():
    import logging, threading, random
    os.register_at_fork(after_in_child=lambda: os._exit(3))
assert os.register_at_fork is register
child = os.fork()
if child == 0:
    thread = threading.Thread(target=lambda: os._exit(7))
    thread.start()
    thread.join()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def _printed(program: str, **environment: str) -> str:
    command = [sys.executable, "-c", program]
    return subprocess.run(
        command, env={**os.environ, **environment}, check=True, capture_output=True, text=True, timeout=60
    ).stdout.strip()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only the GNU C library tells about its heap")
def test_a_heap_whose_holes_are_filled_grows_at_its_end() -> None:
    assert _printed(_FILL, PYTHONMALLOC="malloc", MALLOC_MMAP_THRESHOLD_="65536") == "True True"


def test_a_fork_without_handlers_runs_none_of_them_and_its_threads_work() -> None:
    assert _printed(_FORK) == "7"
