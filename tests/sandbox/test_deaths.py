"""A wait status in words."""

from __future__ import annotations

import pytest

from autograder.sandbox.deaths import TimedOut, WorkerDied, described


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, "exited with status 0"),
        (3 << 8, "exited with status 3"),
        (11, "killed by SIGSEGV (segmentation fault)"),
        (11 | 0x80, "killed by SIGSEGV (segmentation fault)"),
        (24, "killed by SIGXCPU (the limit on CPU time)"),
        (10, "killed by SIGUSR1"),
        (35, "killed by signal 35"),
    ],
)
def test_a_status_is_told_in_words(status: int, words: str) -> None:
    assert described(status) == words


def test_a_failure_is_a_sentence() -> None:
    assert str(WorkerDied("exited with status 0")) == "the process exited with status 0"
    assert str(TimedOut("cpu", 10)) == "no answer after 10 s of computing time"
    assert str(TimedOut("wall", 0.5)) == "no answer after 0.5 s of waiting"
