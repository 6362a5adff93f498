"""No stored state tells one worker anything of the worker before it: each kind is tried by a sender and a receiver.

A sender either does something or does nothing, then ends. The receiver, a fresh worker, looks. A kind tells a bit where
what the receiver sees depends on what the sender did. Numbers that the kernel counts up for the whole machine (process
ids, inode numbers) and the clock are not closed: `SECURITY.md` says what they tell.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from autograder.sandbox import access_times
from autograder.sandbox.connection import Connection, Limits, wait_ready
from autograder.sandbox.launch import ForkServer
from autograder.worker.protocol.messages import Call, Returned, Target

FILES = 8  # of the submission, each a bit that could be told
LIMITS = Limits(memory_bytes=128 << 20, cpu_seconds=20)
PART = """
import ctypes, fcntl, glob, mmap, os, resource, signal, struct, sys, tempfile, time, torch
libc = ctypes.CDLL(None, use_errno=True)
here = os.path.dirname(os.path.abspath(__file__))
files = [os.path.join(here, f"data_{i}.txt") for i in range(FILES)]
headers = [os.path.join(os.path.dirname(torch.__file__), "include", "torch", "extension.h")]
library = sorted(glob.glob(os.path.join(os.path.dirname(torch.__file__), "distributed", "elastic", "**", "*.py")))
kept = []
room = ctypes.create_string_buffer(400)

def syscall(number, *arguments):
    result = libc.syscall(ctypes.c_long(number), *(ctypes.c_long(each) for each in arguments))
    if result == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return result

def times(path):
    seen = os.lstat(path)
    return seen.st_atime_ns, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_nlink, seen.st_size

def cached(path):  # whether a read would wait for the disk: RWF_NOWAIT
    with open(path, "rb") as file:
        return len(os.preadv(file.fileno(), [bytearray(1)], 0, 8))

def resident(path):
    with open(path, "rb") as file:
        mapped = mmap.mmap(file.fileno(), 1, access=mmap.ACCESS_COPY)
        vector = ctypes.create_string_buffer(1)
        address = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
        syscall(27, address, 4096, ctypes.addressof(vector))
        return vector.raw

def read(path):
    with open(path, "rb") as file:
        return file.read(1) and None

def drop(path):
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

def tried(expression):
    try:
        return repr(eval(expression))
    except (OSError, ValueError, AttributeError) as error:
        return type(error).__name__
"""


@dataclass(frozen=True)
class State:
    """A kind of stored state: what a sender does, and what a receiver looks at, as expressions."""

    name: str
    send: str
    look: str


STATES = (
    State("access times of the submission", "[read(f) for f in files]", "[times(f) for f in files]"),
    State("access time of its folder", "os.listdir(here)", "times(here)"),
    State("access time of a header", "[read(f) for f in headers]", "[times(f) for f in headers]"),
    State("access times of the library", "[read(f) for f in library]", "[times(f) for f in library]"),
    State("access time of a library's folder", "os.listdir(torch.__path__[0])", "times(torch.__path__[0])"),
    State("changed times", "[os.utime(f, (1, 1)) for f in files]", "[times(f) for f in files]"),
    State("modes", "os.chmod(files[0], 0o600)", "os.stat(files[0]).st_mode"),
    State("page cache emptied, then asked for", "[drop(f) for f in files]", "[cached(f) for f in files]"),
    State("page cache emptied, then mapped", "[drop(f) for f in files]", "[resident(f) for f in files]"),
    State("page cache counted", "[drop(f) for f in files]", "syscall(451, 3, 0, 0, 0)"),
    State("hard links", "[os.link(f, f'l{i}') for i, f in enumerate(files)]", "[times(f) for f in files]"),
    State("extended attributes", "os.setxattr(files[0], 'user.x', b'1')", "os.listxattr(files[0])"),
    State("locks", "fcntl.flock(kept.append(open(files[0])) or kept[0], 2)", "fcntl.flock(open(files[0]), 6)"),
    State("leases", "fcntl.fcntl(open(files[0]), 1024, 0)", "fcntl.fcntl(open(files[0]), 1025)"),
    State("a deleted file", "open('left', 'w').close()", "os.path.exists('left')"),
    State("names of scratch folders", "[os.mkdir(f'd{i}') for i in range(9)]", "os.stat('..').st_nlink"),
    State("times of the folder above", "os.mkdir('d')", "times('..')"),
    State("times of the folder above that", "os.mkdir('d')", "times('../..')"),
    State("room on the disk", "open('big', 'wb').write(bytes(8 << 20))", "os.statvfs('.')"),
    State("memory of the machine", "kept.append(bytearray(64 << 20))", "syscall(99, ctypes.addressof(room))"),
    State("memory of a node", "kept.append(bytearray(64 << 20))", "read('/sys/devices/system/node/node0/meminfo')"),
    State("counters of the kernel", "sum(range(10**5))", "[open(f'/proc/{n}').read(9) for n in ('stat', 'vmstat')]"),
    State("umask", "os.umask(0)", "os.umask(0o77)"),
    State("priority", "os.nice(3)", "os.getpriority(0, 0)"),
    State("affinity", "os.sched_setaffinity(0, {0})", "os.sched_getaffinity(0)"),
    State("scheduling", "os.sched_setscheduler(0, 3, os.sched_param(0))", "os.sched_getscheduler(0)"),
    State("timer slack", "syscall(157, 29, 77)", "syscall(157, 30)"),
    State("limits", "resource.setrlimit(resource.RLIMIT_CORE, (0, 0))", "resource.getrlimit(resource.RLIMIT_STACK)"),
    State("personality", "syscall(135, 0x40000)", "syscall(135, 0xffffffff)"),
    State("barriers", "syscall(324, 16, 0, 0)", "syscall(324, 0, 0, 0) & 0"),
    State("keys", "syscall(248, id(b'user') + 32, id(b'k') + 32, id(b'v') + 32, 1, -3)", "syscall(250, 0, -3, 1)"),
    State("System V memory", "syscall(29, 77, 4096, 0o1666)", "syscall(29, 77, 4096, 0)"),
    State("System V semaphores", "syscall(64, 77, 1, 0o1666)", "syscall(64, 77, 1, 0)"),
    State("System V queues", "syscall(68, 77, 0o1666)", "syscall(68, 77, 0)"),
    State(
        "POSIX queues", "syscall(240, id(b'queue') + 32, 0o102, 0o666, 0)", "syscall(240, id(b'queue') + 32, 0, 0, 0)"
    ),
    State("shared memory", "open('/dev/shm/told', 'w').close()", "os.path.exists('/dev/shm/told')"),
    State(
        "abstract sockets",
        "__import__('socket').socket(1).bind('\\0told')",
        "__import__('socket').socket(1).connect('\\0told')",
    ),
    State(
        "random numbers",
        "[open('/dev/urandom', 'wb'), os.urandom(99)]",
        "read('/proc/sys/kernel/random/entropy_avail')",
    ),
    State(
        "settings of the kernel",
        "open('/proc/sys/kernel/domainname', 'w').write('x')",
        "read('/proc/sys/kernel/domainname')",
    ),
    State("the standard input", "fcntl.fcntl(0, 4, os.O_APPEND)", "fcntl.fcntl(0, 3)"),
    State("offsets of files", "os.lseek(0, 7, 0)", "os.lseek(0, 0, 1)"),
    State("capacity of pipes", "fcntl.fcntl(1, 1031, 4096)", "fcntl.fcntl(1, 1032)"),
    State("random state", "torch.manual_seed(3)", "torch.rand(3).tolist()"),
    State("variables", "os.environ.update(TOLD='1')", "sorted(os.environ)"),
    State("temporary names", "tempfile.mkdtemp()", "os.listdir(tempfile.gettempdir())"),
)


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    with ForkServer.launch() as running:
        if wait_ready(running).missing:
            pytest.skip("this machine lacks a layer that closes stored states")
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, server: ForkServer) -> Path:
    made = server.runtime / "handed_in"
    made.mkdir()
    made.chmod(0o755)
    (made / "part.py").write_text(PART.replace("FILES", str(FILES)))
    for number in range(FILES):
        (made / f"data_{number}.txt").write_text("x" * 10)
    for path in made.iterdir():
        path.chmod(0o644)
    return made


def seen(connection: Connection, folder: Path, expression: str) -> object:
    """What a fresh worker says of an expression. It has ended when this returns."""
    worker = connection.spawn(folder, ["part"], LIMITS)
    try:
        reply = worker.request(Call(Target("tried", "part"), (expression,)), cpu_seconds=10, wall_seconds=60)
        assert isinstance(reply, Returned), reply
        return reply.value
    finally:
        worker.close()
        connection.settle()


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.name)
def test_no_state_that_a_worker_leaves_tells_the_next_one_anything(
    state: State, server: ForkServer, folder: Path
) -> None:
    with Connection(server) as connection:
        assert access_times.stand_still(folder)
        seen(connection, folder, state.look)
        untold = [seen(connection, folder, "None") and seen(connection, folder, state.look) for _ in range(2)]
        told = [seen(connection, folder, state.send) and seen(connection, folder, state.look) for _ in range(2)]
    assert told == untold


@pytest.mark.parametrize(
    "look",
    [
        "time.clock_gettime((~os.getppid() << 3) | 2)",
        "os.getpriority(0, os.getppid())",
        "os.sched_getaffinity(os.getppid())",
        "os.getsid(os.getppid())",
        "os.getpgid(os.getppid())",
        "resource.prlimit(os.getppid(), resource.RLIMIT_CPU)",
        "os.kill(os.getppid(), 0)",
        "os.pidfd_open(os.getppid())",
    ],
)
def test_a_worker_learns_nothing_of_another_process(look: str, server: ForkServer, folder: Path) -> None:
    with Connection(server) as connection:
        assert seen(connection, folder, look) in ("PermissionError", "OSError", "ProcessLookupError")


@pytest.mark.skipif(os.geteuid() != 0, reason="workers have no user ids of their own")
def test_what_a_worker_can_see_of_its_place_is_drawn_at_random(server: ForkServer, folder: Path) -> None:
    with Connection(server) as connection:
        ids = [int(str(seen(connection, folder, "os.getuid()"))) for _ in range(8)]
        places = [str(seen(connection, folder, "os.environ['TMPDIR']")).strip("'") for _ in range(8)]
    assert ids not in (sorted(ids), sorted(ids, reverse=True))
    assert len(set(ids)) == 8
    assert all(len(Path(place).name) == 16 and int(Path(place).name, 16) > 1000 for place in places)
