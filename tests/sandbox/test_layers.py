"""Seccomp, Landlock and the quota on real workers: what is refused, and what honest code may go on doing."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder import results
from autograder.diagnosis.exception_meanings import what_it_means
from autograder.sandbox.connection import Connection, wait_ready
from autograder.sandbox.deaths import WorkerDied
from autograder.sandbox.launch import ForkServer
from autograder.worker.protocol.messages import Raised, Returned
from tests.sandbox.conftest import LIMITS, Workers, call


def meaning(reply: Raised) -> str:
    return what_it_means(results.Raised(kinds=reply.kinds, message=reply.message))


TRIES = """
import ctypes, multiprocessing, os, resource, shutil, socket, struct, subprocess, sys, tempfile, threading
import numpy, regex, torch

libc = ctypes.CDLL(None, use_errno=True)

def tried(expression, *values):
    names = dict(globals(), values=values)
    try:
        return repr(eval(expression, names))
    except OSError as error:
        return type(error).__name__

def half(dtype):  # torch asks for the processor's features when it first computes in half precision
    x = torch.randn(64, 64).to(dtype)
    x = (x @ x).softmax(-1) * torch.tensor(2.0) + x.sum(0).exp().log()
    x = torch.nn.functional.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None])
    return torch.nn.functional.gelu(torch.nn.functional.layer_norm(x.transpose(-1, -2), (64,))) * x.std()

def syscall(number, *arguments):
    if libc.syscall(ctypes.c_long(number), *(ctypes.c_ulong(each) for each in arguments)) == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return 0

def prctl(option, value):
    if libc.prctl(ctypes.c_ulong(option), ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    return 0
"""


REFUSALS = ("PermissionError", "NotADirectoryError", "FileNotFoundError", "OSError")


@pytest.fixture
def layers(server: ForkServer) -> set[str]:
    """Those of the two optional layers that this machine has."""
    return {"seccomp", "landlock"} - set(wait_ready(server).missing)


def tried(workers: Workers, expression: str, *values: object, **limits: Any) -> str:
    reply = call(workers.start(TRIES, replace(LIMITS, **limits)), "tried", expression, *values)
    assert isinstance(reply, Returned), reply
    return reply.value


@pytest.mark.parametrize(
    "expression",
    [
        "socket.socket()",
        "socket.socket(socket.AF_UNIX)",
        "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
        "os.fork()",
        "subprocess.run(['true'])",
        "os.execv(sys.executable or '/bin/true', ['true'])",
        "os.memfd_create('memory')",
        "os.pidfd_open(os.getpid())",
        "resource.prlimit(os.getppid(), resource.RLIMIT_CPU)",
        "os.kill(os.getppid(), 0)",
        "os.kill(-1, 0)",
        "prctl(4, 1)",
        "prctl((1 << 32) | 4, 1)",
        "prctl(1, 0)",
        "__import__('fcntl').fcntl(0, 8, os.getppid())",
        "os.mknod('device', 0o600 | 0o020000, os.makedev(1, 3))",
        "os.setxattr('.', 'user.probe', b'')",
        "os.chown('.', 1, 1)",
        "os.sched_setaffinity(os.getppid(), {0})",
        "os.setpriority(os.PRIO_USER, 0, 10)",
        "os.truncate(values[0], 0)",
        "__import__('fcntl').ioctl(open(os.__file__), 0x40086602, struct.pack('l', 0x40))",
        "__import__('fcntl').fcntl(open(os.__file__), 1024, 0)",
        "__import__('mmap').mmap(-1, 4096)",
    ],
)
def test_seccomp_refuses(workers: Workers, layers: set[str], expression: str) -> None:
    if "seccomp" not in layers:
        pytest.skip("this machine has no seccomp")
    (workers.folder / "data.txt").write_text("kept")
    (workers.folder / "data.txt").chmod(0o666)
    data = str(workers.folder / "data.txt")
    assert tried(workers, expression, data, without=tuple({"landlock"} & layers)) == "PermissionError"
    assert (workers.folder / "data.txt").read_text() == "kept"


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of system calls")
@pytest.mark.parametrize(
    ("number", "arguments"),
    [
        *((number, ()) for number in (29, 64, 68, 101, 248, 298, 310, 321, 323, 425)),  # shmget to io_uring_setup
        (56, (17,)),  # clone without CLONE_THREAD
        (435, (0, 0)),  # clone3
        (452, ()),  # fchmodat2
        (463, ()),
        (511, ()),
    ],
)
def test_seccomp_refuses_by_number(workers: Workers, layers: set[str], number: int, arguments: tuple[int, ...]) -> None:
    if "seccomp" not in layers:
        pytest.skip("this machine has no seccomp")
    call_text = f"syscall({number}, *{arguments})"
    assert tried(workers, call_text) in ("PermissionError", "OSError")


def test_a_mode_is_pretended_to_be_set_and_is_not(workers: Workers, layers: set[str]) -> None:
    if "seccomp" not in layers:
        pytest.skip("this machine has no seccomp")
    expression = "[open('x', 'w').close(), os.chmod('x', 0o777), oct(os.stat('x').st_mode)]"
    assert tried(workers, expression) == "[None, None, '0o100600']"


@pytest.mark.parametrize("expression", ["open(values[0])", "os.listdir(values[1])", "open(values[1] + '/new', 'w')"])
def test_landlock_closes_what_is_open_to_everybody(
    workers: Workers, layers: set[str], expression: str, open_to_all: Path
) -> None:
    if "landlock" not in layers:
        pytest.skip("this machine has no Landlock")
    values = (str(open_to_all / "file"), str(open_to_all))
    assert tried(workers, expression, *values) in ("PermissionError", "OSError")  # in namespaces it is read-only
    assert tried(workers, expression, *values, without=("landlock",)) != "PermissionError"


@pytest.fixture
def open_to_all() -> Any:
    folder = Path(tempfile.mkdtemp(prefix="softmark-test-"))
    folder.chmod(0o777)
    (folder / "file").write_text("open")
    (folder / "file").chmod(0o644)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "/proc/self/status", "/proc/1/environ", "/dev/shm/new", "/tmp/new", "/"]
)
def test_landlock_closes_the_system(workers: Workers, layers: set[str], path: str) -> None:
    if "landlock" not in layers:
        pytest.skip("this machine has no Landlock")
    for expression in ("open(values[0], 'r' if os.path.exists(values[0]) else 'w')", "os.listdir(values[0])"):
        assert tried(workers, expression, path) in REFUSALS


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("torch.set_num_threads(2), float((torch.ones(300, 300) @ torch.ones(300, 300))[0, 0])", "(None, 300.0)"),
        ("(lambda t: (t.start(), t.join(), t.is_alive()))(threading.Thread(target=int))", "(None, None, False)"),
        ("list(__import__('concurrent.futures').futures.ThreadPoolExecutor(3).map(abs, [-1, 2]))", "[1, 2]"),
        ("float(numpy.linalg.inv(numpy.eye(3) * 2)[0, 0])", "0.5"),
        ("regex.findall(r'\\p{L}+', 'añb 1')", "['añb']"),
        ("__import__('colorsys').hls_to_rgb(0, 0.5, 0)", "(0.5, 0.5, 0.5)"),
        ("__import__('asyncio').run(__import__('asyncio').sleep(0, 3))", "3"),
        ("tempfile.TemporaryFile().write(bytes(1000))", "1000"),
        ("[f.write(b'12') for f in [tempfile.NamedTemporaryFile(dir='.')]]", "[2]"),
        ("[d.cleanup() for d in [tempfile.TemporaryDirectory()]]", "[None]"),
        ("[open('a', 'w').write('1'), shutil.copy2('a', 'b'), open('b').read()]", "[1, 'b', '1']"),
        (
            "[os.mkdir('d'), open('e', 'w').close(), os.replace('e', 'd/e'), os.listdir('d')]",
            "[None, None, None, ['e']]",
        ),
        ("torch.save(torch.ones(3), 'w.pt') or torch.load('w.pt').tolist()", "[1.0, 1.0, 1.0]"),
        ("os.kill(os.getpid(), 0)", "None"),
        ("len(os.urandom(8))", "8"),
        ("torch.nn.Linear(2, 2)(torch.ones(1, 2)).sum().backward()", "None"),
        ("len(list(torch.utils.data.DataLoader(list(range(4)), batch_size=2)))", "2"),
        (
            "[str(half(getattr(torch, name)).dtype) for name in ('float16', 'bfloat16')]",
            "['torch.float16', 'torch.bfloat16']",
        ),
        ("bool(__import__('time').localtime().tm_year)", "True"),
    ],
)
def test_honest_code_works_with_every_layer_on(workers: Workers, expression: str, result: str) -> None:
    assert tried(workers, expression) == result


@pytest.mark.parametrize(
    "body",
    [
        "import subprocess; subprocess.run(['ls'])",
        "import multiprocessing; multiprocessing.Process(target=print).start()",
        "import multiprocessing; multiprocessing.Pool(2)",
        "import socket; socket.create_connection(('127.0.0.1', 80))",
        "import urllib.request; urllib.request.urlopen('http://example.org')",
        "import torch; list(torch.utils.data.DataLoader([1, 2], num_workers=1))",
    ],
)
def test_processes_and_downloads_are_answered_with_a_sentence(workers: Workers, layers: set[str], body: str) -> None:
    if layers != {"seccomp", "landlock"}:
        pytest.skip("this machine lacks a layer")
    reply = call(workers.start(f"def f():\n    {body}"), "f")
    assert isinstance(reply, Raised)
    assert meaning(reply).startswith("Checks run without a network and in one process")


def test_a_file_that_is_out_of_reach_is_answered_with_a_sentence(
    workers: Workers, layers: set[str], open_to_all: Path
) -> None:
    if "landlock" not in layers:
        pytest.skip("this machine has no Landlock")
    reply = call(workers.start(f"def f():\n    open({str(open_to_all / 'file')!r})"), "f")
    assert isinstance(reply, Raised)
    assert meaning(reply).startswith("A check may read what you handed in")


FILLS = """
import os
def in_many_files():
    number = 0
    while True:
        number += 1
        open(f"fill-{number}", "wb").write(bytes(100_000))

def with_empty_files():
    number = 0
    while True:
        number += 1
        open(f"empty-{number}", "wb").close()

def within():
    for number in range(8):
        open(f"fill-{number}", "wb").write(bytes(100_000))
    for number in range(8):
        os.unlink(f"fill-{number}")
    return 8
"""


@pytest.mark.parametrize("name", ["in_many_files", "with_empty_files"])
def test_a_full_scratch_folder_ends_its_worker_and_says_so(workers: Workers, name: str) -> None:
    with pytest.raises(WorkerDied, match="files grew too large") as caught:
        call(workers.start(FILLS, replace(LIMITS, scratch_bytes=2 << 20)), name)
    assert caught.value.overfull


def test_files_within_the_quota_may_be_written_again_and_again(workers: Workers) -> None:
    worker = workers.start(FILLS)
    assert [call(worker, "within") for _ in range(20)] == [Returned(8)] * 20


def test_a_submission_cannot_be_written_by_its_worker(workers: Workers) -> None:
    source = "def spoils():\n    open(__file__, 'a').write('x = 1')"
    reply = call(workers.start(source), "spoils")
    assert isinstance(reply, Raised) and reply.kinds[0] == "PermissionError"


def test_a_machine_without_the_packages_has_workers_without_the_layers(
    open_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper = tmp_path / "python"
    block = "import sys; sys.modules['landlockpy'] = sys.modules['pyseccomp'] = None; "
    wrapper.write_text(f"""#!/bin/sh
start="$5"
shift 5
exec "{sys.executable}" -S -s -B -c "{block}$start" "$@"
""")
    wrapper.chmod(0o755)
    (open_folder / "part.py").write_text(TRIES)
    with ForkServer.launch(python=str(wrapper)) as running, Connection(running) as connection:
        hello = wait_ready(running)
        assert set(hello.missing) == {"landlock", "seccomp"}
        assert all("import of" in reason for reason in hello.missing.values())
        worker = connection.spawn(open_folder, ["part"], LIMITS)
        assert call(worker, "tried", "socket.socket().close()") == Returned("None")
