"""The limits of a worker: time, memory, files, processes, and memory while a stream is open."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.sandbox.connection import Limits
from autograder.sandbox.deaths import TimedOut
from autograder.sandbox.worker import RemoteWorker
from autograder.worker.protocol.messages import Advance, Call, Load, OpenStream, Raised, Release, Streamed, Target
from tests.sandbox.conftest import FORKING, Workers, call, value


def processes_of(uid: int) -> list[int]:
    """The living processes of a user id."""
    found: list[int] = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            status = Path(f"/proc/{name}/status").read_text()
        except OSError:
            continue
        if f"\nUid:\t{uid}\t" in status and "\nState:\tZ" not in status:
            found.append(int(name))
    return found


# ------------------------------------------------------------------ limits


def test_an_endless_loop_is_ended_by_its_cpu_time(start: Any) -> None:
    worker = start("def loops():\n    while True:\n        pass")
    with pytest.raises(TimedOut) as caught:
        call(worker, "loops", cpu=0.2)
    assert (caught.value.kind, caught.value.seconds) == ("cpu", 0.2)
    assert 0.2 <= worker.cpu_seconds < 2.0


def test_an_endless_import_is_ended_by_its_cpu_time(start: Any) -> None:
    worker = start("while True:\n    pass")
    with pytest.raises(TimedOut):
        worker.request(Load("part"), cpu_seconds=0.2, wall_seconds=60)


def test_a_sleeper_that_ignores_signals_is_ended_by_wall_time(start: Any) -> None:
    source = """
import signal, time
def sleeps():
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    while True:
        time.sleep(60)
"""
    with pytest.raises(TimedOut) as caught:
        call(start(source), "sleeps", wall=0.3)
    assert (caught.value.kind, caught.value.seconds) == ("wall", 0.3)


def test_a_worker_that_does_not_read_is_ended_by_wall_time(start: Any) -> None:
    worker = start("def same(x):\n    return x")
    worker.wait_ready()
    os.kill(worker.pid, signal.SIGSTOP)
    with pytest.raises(TimedOut) as caught:
        call(worker, "same", torch.zeros(1_000_000), wall=0.3)
    assert caught.value.kind == "wall"


def test_slow_drips_of_an_answer_meet_one_deadline(start: Any) -> None:
    source = """
import os, time
def drips():
    os.write(1001, (1000).to_bytes(8, "little") + (100).to_bytes(8, "little") + bytes(8))
    while True:
        os.write(1001, b"x")
        time.sleep(0.01)
"""
    with pytest.raises(TimedOut):
        call(start(source), "drips", wall=0.4)


@pytest.mark.parametrize(
    "body", ["[torch.ones(10 ** 6) for _ in range(10 ** 4)]", "bytearray(1 << 40)", "'a' * (1 << 33)"]
)
def test_a_memory_bomb_is_raised_in_the_student_code(start: Any, body: str) -> None:
    worker = start(f"import torch\ndef eats():\n    return {body}\ndef one():\n    return 1")
    reply = call(worker, "eats")
    assert isinstance(reply, Raised) and reply.kinds[0] in ("RuntimeError", "MemoryError")
    assert value(call(worker, "one")) == 1


def test_a_memory_bomb_that_keeps_everything_still_answers(start: Any) -> None:
    source = """
kept = []
def eats():
    size = 1 << 24
    while size:
        try:
            kept.append(bytearray(size))
        except MemoryError:
            size //= 2
    return kept[:0] + [bytearray(1 << 20)]
"""
    reply = call(start(source), "eats")
    assert isinstance(reply, Raised) and reply.kinds[0] == "MemoryError"


def test_memory_within_the_allowance_can_be_used_again_and_again(start: Any) -> None:
    worker = start("import torch\ndef uses():\n    return float(torch.ones(16, 1 << 20).sum())")
    for _ in range(4):
        assert value(call(worker, "uses")) == float(16 << 20)


def test_the_allowance_counts_from_the_fork(workers: Workers) -> None:
    source = "import torch\ndef uses():\n    return torch.ones(1 << 22).numel()"
    little = workers.start(source, Limits(memory_bytes=8 << 20))
    assert isinstance(call(little, "uses"), Raised)
    enough = workers.start(source, Limits(memory_bytes=64 << 20))
    assert value(call(enough, "uses")) == 1 << 22


def test_a_soft_limit_cannot_be_raised_by_more_than_the_reserve(start: Any) -> None:
    source = """
import resource, torch
def eats():
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    return torch.ones(40 << 20).numel()
"""
    assert isinstance(call(start(source), "eats"), Raised)


def test_files_are_limited_in_size(start: Any) -> None:
    source = "def writes():\n    with open('big', 'wb') as file:\n        file.write(bytes(2 << 20))"
    reply = call(start(source), "writes")
    assert isinstance(reply, Raised) and reply.message.startswith("[Errno 27]")


def test_a_fork_bomb_is_limited_and_nothing_of_it_is_left(workers: Workers) -> None:
    source = """
import os, time
def bombs():
    made = 0
    try:
        while made < 2000:
            if os.fork() == 0:
                time.sleep(600)
            made += 1
    except BlockingIOError:
        return made
    return made
"""
    worker = workers.start(source, FORKING)
    if worker.uid is not None:
        assert value(call(worker, "bombs")) < 64
    else:
        assert value(call(worker, "bombs")) < 2000
    worker.close()
    workers.connection.settle()
    if worker.uid is not None:
        assert processes_of(worker.uid) == []


# ------------------------------------------------------------------ streams

STREAMS = """
kept = []
def one_by_one(items):
    for item in items:
        yield len(item)
def all_at_once(items):
    return [len(item) for item in list(items)]
def keeps_what_it_has_seen(items):
    for item in items:
        kept.append(item)
        yield len(item)
def raises_its_limit(items):
    import resource
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    yield from keeps_what_it_has_seen(items)
def keeps_the_last_hundred(items):
    for item in items:
        kept.append(item)
        del kept[:-100]
        yield len(item)
def takes(megabytes):
    return len(bytearray(megabytes << 20))
"""


def stream_through(worker: RemoteWorker, name: str, memory_bytes: int) -> Any:
    """Feed 64 MB in items of 64 kB; the last reply, or the first that is no `Streamed`."""
    limits = {"cpu_seconds": 10.0, "wall_seconds": 60.0}
    item = "x" * (1 << 16)
    opening = OpenStream(Target(name, "part"), (), {}, (item,), count=1000, memory_bytes=memory_bytes)
    reply = worker.request(opening, **limits)
    while isinstance(reply, Streamed) and not reply.done:
        reply = worker.request(Advance(Target(name, "part"), reply.stream, 100), **limits)
    return reply


@pytest.mark.parametrize("name", ["all_at_once", "keeps_what_it_has_seen", "raises_its_limit"])
def test_memory_is_held_while_a_stream_is_consumed(start: Any, name: str) -> None:
    reply = stream_through(start(STREAMS), name, 32 << 20)
    assert isinstance(reply, Raised)
    assert reply.kinds[0] == "MemoryError"


@pytest.mark.parametrize("name", ["one_by_one", "keeps_the_last_hundred"])
def test_what_keeps_a_bounded_number_of_items_stays_within_the_memory_of_a_stream(start: Any, name: str) -> None:
    reply = stream_through(start(STREAMS), name, 32 << 20)
    assert isinstance(reply, Streamed)
    assert (reply.pulled, reply.done) == (1000, True)


def test_the_limit_of_a_stream_cannot_be_raised_and_stays_lower_afterwards(start: Any) -> None:
    worker = start(STREAMS)
    reply = stream_through(worker, "one_by_one", 32 << 20)
    assert isinstance(call(worker, "takes", 40), Raised)
    worker.request(Release(reply.stream), cpu_seconds=1.0, wall_seconds=10.0)
    assert value(call(worker, "takes", 40)) == 40 << 20
    assert isinstance(call(worker, "takes", 60), Raised)


def test_a_second_stream_of_the_same_worker_has_the_memory_of_the_first(start: Any) -> None:
    worker = start(STREAMS)
    for _ in range(2):
        reply = stream_through(worker, "keeps_the_last_hundred", 32 << 20)
        assert isinstance(reply, Streamed) and reply.done
        worker.request(Release(reply.stream), cpu_seconds=1.0, wall_seconds=10.0)


def test_time_without_a_processor_is_not_counted_as_waiting(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is played: the kernel's account says that the worker stood in the queue all the while."""
    begun = time.monotonic()
    monkeypatch.setattr(RemoteWorker, "_queued", lambda _: time.monotonic() - begun)
    worker = start("import time\ndef nap():\n    time.sleep(0.6)\n    return 1")
    assert value(worker.request(Call(Target("nap", "part")), cpu_seconds=5, wall_seconds=0.2)) == 1


def test_the_deadline_of_the_submission_counts_that_time_too(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = time.monotonic()
    monkeypatch.setattr(RemoteWorker, "_queued", lambda _: time.monotonic() - begun)
    worker = start("import time\ndef nap():\n    time.sleep(60)")
    worker.deadline = time.monotonic() + 0.5
    with pytest.raises(TimedOut):
        worker.request(Call(Target("nap", "part")), cpu_seconds=5, wall_seconds=0.2)
