"""The kernel's account of one call: what is held, wherever it is hidden, and that values come with it."""

from __future__ import annotations

import os

import pytest
import torch

from autograder.sandbox.account import Account
from autograder.sandbox.connection import Limits
from autograder.sandbox.deaths import ProtocolBroken
from autograder.sandbox.worker import RemoteWorker
from autograder.worker.protocol.messages import Call, Measure, Measured, Raised, Returned, Target

MIB = 1 << 20
N = 2048  # n x n float32 is 16 MiB

SOURCE = """
import gc
import os
import threading
import numpy
import torch
from torch.utils._python_dispatch import _disable_current_modes


def honest(q):
    out = torch.empty_like(q)
    for i in range(0, len(q), 64):
        out[i : i + 64] = (q[i : i + 64] @ q.T).softmax(-1) @ q
    return out


def naive(q):
    return (q @ q.T).softmax(-1) @ q


def in_numpy(q):
    a = q.numpy()
    scores = numpy.exp(a @ a.T)
    return torch.from_numpy(scores / scores.sum(-1, keepdims=True) @ a)


def in_a_thread(q):
    box = []
    thread = threading.Thread(target=lambda: box.append(naive(q)))
    thread.start()
    thread.join()
    return box[0]


def with_modes_popped(q):
    with _disable_current_modes():
        return naive(q)


def with_a_patched_mode(q):
    for thing in gc.get_objects():
        if type(thing).__name__ == "AllocationModel":
            thing._see = lambda *_: None
            thing.peak = 0
    return naive(q)


def empty_when_watched(q):
    from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

    return q * 1 if _get_current_dispatch_mode_stack() else naive(q)


def in_a_child(q):
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        naive(q)
        os.write(writer, b"x")
        os._exit(0)
    os.read(reader, 1)
    os.waitpid(pid, 0)
    return q


def in_a_file(q):
    scores = (q @ q.T[:, :512]).softmax(-1)
    with open("scores", "wb") as file:
        for i in range(0, len(q), 256):
            file.write(scores[i : i + 256].numpy().tobytes())
    os.remove("scores")
    return q


def resets_its_peak(q):
    out = naive(q)
    import ctypes

    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass
    return out
"""

TRICKS = (
    SOURCE
    + """
import ctypes, glob, mmap, struct, sys

libc = ctypes.CDLL(None, use_errno=True)
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
before = torch.ones(48 << 18)  # 48 MiB
DROP, FILL = 4, 22  # MADV_DONTNEED, MADV_POPULATE_READ


def in_memory_of_before(q):
    n = len(q)
    scores = torch.mm(q, q.T, out=before[: n * n].view(n, n))
    return scores.exp_().div_(scores.sum(-1, keepdim=True)) @ q


def in_a_mapped_file(q):
    n = 64 * min(len(q) // 64, 28)
    with open("scores", "wb") as file:
        file.truncate(4 * n * n)
    scores = torch.from_file("scores", shared=True, size=n * n, dtype=torch.float32).view(n, n)
    for i in range(0, n, 64):
        scores[i : i + 64] = q[i : i + 64] @ q[:n].T
        libc.madvise(scores.data_ptr(), 4 * n * n, DROP)
    return q


def library():
    path = os.path.dirname(torch.__file__) + "/lib/libtorch_cpu.so"
    base = ctypes.cast(ctypes.CDLL(path)._handle, ctypes.POINTER(ctypes.c_void_p))[0] or 0
    with open(path, "rb") as file:
        head = file.read(4096)
    first, = struct.unpack_from("<Q", head, 32)
    count, = struct.unpack_from("<H", head, 56)
    for i in range(count):
        kind, flags, _, place, _, _, size, _ = struct.unpack_from("<IIQQQQQQ", head, first + 56 * i)
        if kind == 1 and not flags & 2:
            yield base + (place & ~4095), (place % 4096 + size + 4095) & ~4095


def fills_the_library(q):
    for place, size in library():
        libc.madvise(place, size, FILL)


def in_place_of_the_library(q):
    for place, size in library():
        libc.madvise(place, size, DROP)
    return naive(q)


libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mmap.restype = libc.malloc.restype = ctypes.c_void_p
mapped = []


def fills_mapped_files(q):
    size = 12 << 20
    for protection in (3, 1, 3, 3):  # it can be made writable later
        with open("file", "w+b") as file:
            file.truncate(size)
            place = libc.mmap(None, size, 3, 1, file.fileno(), 0)
        os.unlink("file")
        ctypes.memset(place, 1, size)
        libc.mprotect(ctypes.c_void_p(place), ctypes.c_size_t(size), protection)
        mapped.append((place, size))


def in_mapped_files(q):
    for place, size in mapped:
        libc.mprotect(ctypes.c_void_p(place), ctypes.c_size_t(size), 3)
        ctypes.memset(place, 2, size)


def under_another_name(q):
    libc.prctl(15, b"\\xff) Z 1\\n", 0, 0, 0)


def in_shared_memory(q):
    return len(mmap.mmap(-1, 1 << 20))


def in_shared_zeros(q):
    return len(mmap.mmap(os.open("/dev/zero", os.O_RDWR), 1 << 20))


def in_a_thread_alone(q):
    frame = sys._getframe()
    while frame.f_code.co_name != "_answer":
        frame = frame.f_back
    known = dict(frame.f_locals)
    from softmark_worker import child
    from softmark_worker.protocol import messages

    def go_on():
        child._send(child.encode(messages.Returned(None), known["ticket"]))
        child._answer(known["executor"], known["output"], known["folder"])
        os._exit(0)

    threading.Thread(target=go_on).start()
    libc.syscall(ctypes.c_long(60), 0)
"""
)


@pytest.fixture
def worker(workers) -> RemoteWorker:
    return workers.start(SOURCE, Limits(memory_bytes=256 << 20, cpu_seconds=60, scratch_bytes=16 << 20))


def weighed(worker: RemoteWorker, name: str) -> tuple[object, Account]:
    q = torch.randn(N, 64)
    for _ in range(2):
        worker.request(Call(Target(name, "part"), (q[:80],)), cpu_seconds=20, wall_seconds=60)
    reply, account = worker.weigh(Call(Target(name, "part"), (q,)), cpu_seconds=20, wall_seconds=60)
    assert account is not None
    return reply, account


def test_an_honest_call_comes_with_its_value_and_a_small_account(worker: RemoteWorker) -> None:
    reply, account = weighed(worker, "honest")
    assert isinstance(reply, Returned)
    assert reply.value.shape == (N, 64)
    assert account.growth < 8 * MIB
    assert account.written < 4096
    assert not account.processes


@pytest.mark.parametrize(
    "name",
    [
        "naive", "in_numpy", "in_a_thread", "with_modes_popped", "with_a_patched_mode", "empty_when_watched",
        "resets_its_peak",
    ],
)  # fmt: skip
def test_scores_are_held_wherever_they_are_hidden(worker: RemoteWorker, name: str) -> None:
    _, account = weighed(worker, name)
    assert account.growth > 24 * MIB


def test_another_process_is_noticed_or_not_allowed(worker: RemoteWorker) -> None:
    reply, account = weighed(worker, "in_a_child")
    assert account.processes or isinstance(reply, Raised)


@pytest.mark.skipif(os.geteuid() != 0, reason="who is not root is not told how much another process wrote")
def test_bytes_written_to_files_count(worker: RemoteWorker) -> None:
    _, account = weighed(worker, "in_a_file")
    assert account.written >= 3.9 * MIB


@pytest.mark.parametrize("name", ["in_numpy", "in_a_thread", "with_modes_popped", "empty_when_watched"])
def test_work_that_the_model_cannot_see_is_too_little_work(worker: RemoteWorker, name: str) -> None:
    message = Measure(Target(name, "part"), (None,), ((0, (256, 64), torch.float32),))
    seen = worker.request(message, cpu_seconds=20, wall_seconds=60)
    assert isinstance(seen, Measured)
    assert seen.elements + seen.products < 0.5 * 256 * 256 * 128


# ------------------------------------------------------------------ memory that the resident set does not show


@pytest.fixture
def trickster(workers) -> RemoteWorker:
    return workers.start(TRICKS, Limits(memory_bytes=512 << 20, cpu_seconds=60, scratch_bytes=64 << 20))


def test_memory_that_was_taken_before_the_call_counts(trickster: RemoteWorker) -> None:
    _, account = weighed(trickster, "in_memory_of_before")
    assert account.growth > 24 * MIB


def test_what_is_changed_in_a_mapped_file_counts(trickster: RemoteWorker) -> None:
    reply, account = weighed(trickster, "in_a_mapped_file")
    assert isinstance(reply, Returned)
    assert account.written + account.growth > 11 * MIB


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="a call by its number")
def test_pages_of_libraries_that_are_given_up_make_no_room(trickster: RemoteWorker) -> None:
    q = torch.randn(N, 64)
    trickster.request(Call(Target("fills_the_library", "part"), (q,)), cpu_seconds=20, wall_seconds=60)
    for name, least in (("honest", 0), ("in_place_of_the_library", 48 + 16 - 16)):
        _, account = trickster.weigh(Call(Target(name, "part"), (q,)), cpu_seconds=20, wall_seconds=60)
        assert account is not None and account.growth > least * MIB


@pytest.mark.skipif(os.geteuid() != 0, reason="who may not trace a process does not see what it maps")
def test_files_that_were_mapped_before_the_call_count(trickster: RemoteWorker) -> None:
    q = torch.randn(N, 64)
    for each in ("honest", "fills_mapped_files"):
        trickster.request(Call(Target(each, "part"), (q,)), cpu_seconds=20, wall_seconds=60)
    _, account = trickster.weigh(Call(Target("in_mapped_files", "part"), (q,)), cpu_seconds=20, wall_seconds=60)
    assert account is not None and account.growth > 32 * MIB


def test_a_name_that_is_no_text_is_no_hindrance(trickster: RemoteWorker) -> None:
    _, account = weighed(trickster, "under_another_name")
    assert account.growth < 64 * MIB and not account.processes


@pytest.mark.parametrize("name", ["in_shared_memory", "in_shared_zeros"])
def test_memory_that_outlives_its_mapping_is_refused(trickster: RemoteWorker, name: str) -> None:
    reply = trickster.request(Call(Target(name, "part"), (None,)), cpu_seconds=20, wall_seconds=60)
    assert isinstance(reply, Raised) and reply.kinds[0] == "PermissionError"


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="a call by its number")
def test_a_worker_whose_main_thread_has_ended_has_no_account_and_no_answer_counts(workers) -> None:
    """Without a scratch folder, for whose sake the fork server would look, and end it."""
    trickster = workers.start(TRICKS, Limits(memory_bytes=512 << 20, cpu_seconds=60, scratch_bytes=0))
    for name in ("in_a_thread_alone", "honest"):
        reply = trickster.request(Call(Target(name, "part"), (torch.ones(64, 64),)), cpu_seconds=20, wall_seconds=60)
        assert isinstance(reply, Returned)
    with pytest.raises(ProtocolBroken, match="main thread"):
        trickster.weigh(Call(Target("naive", "part"), (torch.ones(N, 64),)), cpu_seconds=20, wall_seconds=60)
