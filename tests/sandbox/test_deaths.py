"""How a worker ended, in facts and in words."""

from __future__ import annotations

import pytest

from autograder.sandbox.deaths import TimedOut, WorkerDied


@pytest.mark.parametrize(
    ("status", "words", "facts"),
    [
        (0, "exited with status 0", ("", 0)),
        (3 << 8, "exited with status 3", ("", 3)),
        (11, "killed by SIGSEGV (segmentation fault)", ("SIGSEGV", 0)),
        (11 | 0x80, "killed by SIGSEGV (segmentation fault)", ("SIGSEGV", 0)),
        (24, "killed by SIGXCPU (the limit on CPU time)", ("SIGXCPU", 0)),
        (10, "killed by SIGUSR1", ("SIGUSR1", 0)),
        (35, "killed by signal 35", ("signal 35", 0)),
    ],
)
def test_a_status_is_told_in_words(status: int, words: str, facts: tuple[str, int]) -> None:
    died = WorkerDied(status)
    assert (died.description, (died.signal, died.status)) == (words, facts)


def test_files_that_grew_too_large_are_told_before_the_signal() -> None:
    assert WorkerDied(9, overfull=True).description == "was stopped because its files grew too large"


def test_a_failure_is_a_sentence() -> None:
    assert str(WorkerDied(0)) == "the process exited with status 0"
    assert str(TimedOut("cpu", 10)) == "no answer after 10 s of computing time"
    assert str(TimedOut("wall", 0.5)) == "no answer after 0.5 s of waiting"
