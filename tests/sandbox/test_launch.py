"""The fork server: many graders, its death, and that it leaves nothing behind."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autograder.errors import GraderError
from autograder.sandbox.connection import Connection, wait_ready
from autograder.sandbox.deaths import WorkerFailure
from autograder.sandbox.launch import ForkServer
from autograder.worker.protocol.messages import Call, Returned, Target
from tests.sandbox.conftest import FORKING, LIMITS, Workers, call, value

ONE = "def one():\n    return 1\n"


def is_gone(pid: int) -> bool:
    """Wait until a process of somebody else's is dead."""
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        poll = select.poll()
        poll.register(pidfd, select.POLLIN)
        return bool(poll.poll(30_000))
    finally:
        os.close(pidfd)


@pytest.fixture
def own_server() -> Any:
    """A fork server for one test, to be killed."""
    with ForkServer.launch() as running:
        wait_ready(running)
        yield running


def test_it_is_warm_and_has_one_thread(server: ForkServer) -> None:
    hello = wait_ready(server)
    assert hello.threads == 1
    assert hello.identities in (("high", "low") if os.geteuid() == 0 else ("none",))


def test_torch_needs_no_import_in_a_worker(workers: Workers) -> None:
    source = "import sys\ndef loaded():\n    return ['torch' in sys.modules, 'sympy' in sys.modules]"
    assert call(workers.start(source), "loaded") == Returned([True, True])


def test_it_is_a_program_of_its_own_that_knows_only_the_copy(server: ForkServer) -> None:
    command = Path(f"/proc/{server.pid}/cmdline").read_bytes()
    assert b"softmark_worker" in command
    assert b"autograder" not in command


def test_forked_graders_have_connections_of_their_own(server: ForkServer, open_folder: Path) -> None:
    (open_folder / "part.py").write_text(ONE)
    graders: list[int] = []
    for _ in range(2):
        grader = os.fork()
        if grader == 0:
            try:
                with Connection(server) as connection:
                    worker = connection.spawn(open_folder, ["part"], LIMITS)
                    right = call(worker, "one") == Returned(1)
                    worker.close()
                    connection.settle()
                os._exit(0 if right else 1)
            finally:
                os._exit(2)
        graders.append(grader)
    assert [os.waitpid(grader, 0)[1] for grader in graders] == [0, 0]


def test_a_grader_that_hangs_up_leaves_no_worker(server: ForkServer, open_folder: Path) -> None:
    (open_folder / "part.py").write_text(ONE)
    connection = Connection(server)
    worker = connection.spawn(open_folder, ["part"], LIMITS)
    assert call(worker, "one") == Returned(1)
    connection.close()
    assert is_gone(worker.pid)


def test_many_ends_may_be_under_way_at_once(workers: Workers) -> None:
    started = [workers.start(ONE) for _ in range(5)]
    assert [call(worker, "one") for worker in started] == [Returned(1)] * 5
    for worker in started:
        worker.close()
    workers.connection.settle()
    assert all(is_gone(worker.pid) for worker in started)


def test_a_killed_server_is_the_graders_fault_and_takes_its_workers_with_it(
    own_server: ForkServer, open_folder: Path
) -> None:
    (open_folder / "part.py").write_text(ONE)
    connection = Connection(own_server)
    worker = connection.spawn(open_folder, ["part"], LIMITS)
    assert call(worker, "one") == Returned(1)
    os.kill(own_server.pid, signal.SIGKILL)
    assert is_gone(worker.pid)
    with pytest.raises(GraderError, match="the fork server died"):
        call(worker, "one")
    with pytest.raises(GraderError, match="the fork server died"):
        connection.spawn(open_folder, ["part"], LIMITS)
    with pytest.raises(GraderError):
        wait_ready(own_server)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs user ids of its own")
def test_a_killed_server_takes_daemons_with_it(own_server: ForkServer, open_folder: Path) -> None:
    source = """
import os, time
def daemon():
    child = os.fork()
    if child == 0:
        os.setsid()
        while True:
            time.sleep(600)
    return child
"""
    (open_folder / "part.py").write_text(source)
    connection = Connection(own_server)
    reply = call(connection.spawn(open_folder, ["part"], FORKING), "daemon")
    assert isinstance(reply, Returned)
    os.kill(own_server.pid, signal.SIGKILL)
    assert is_gone(reply.value)


def test_another_server_can_be_launched_after_one_was_killed(own_server: ForkServer, open_folder: Path) -> None:
    os.kill(own_server.pid, signal.SIGKILL)
    own_server.close()
    (open_folder / "part.py").write_text(ONE)
    with ForkServer.launch() as another, Connection(another) as connection:
        assert call(connection.spawn(open_folder, ["part"], LIMITS), "one") == Returned(1)


def test_closing_twice_is_closing_once_and_the_runtime_folder_is_gone() -> None:
    running = ForkServer.launch()
    runtime = running.runtime
    assert runtime.is_dir()
    running.close()
    running.close()
    assert not runtime.exists()
    assert is_gone(running.pid)


def test_a_grader_that_is_killed_leaves_no_server_and_no_folder(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    grader = os.fork()
    if grader == 0:
        try:
            running = ForkServer.launch()
            wait_ready(running)
            theirs.sendall(f"{running.pid} {running.runtime}".encode())
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(2)
    theirs.close()
    pid, runtime = ours.recv(1000).decode().split(" ", 1)
    ours.close()
    os.waitpid(grader, 0)
    assert is_gone(int(pid))
    assert not os.path.exists(runtime) or not os.listdir(runtime)  # inside namespaces it is a mount, and stays empty


def test_a_python_that_lacks_the_libraries_is_named_with_its_last_words(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'no module named torch' >&2\nexit 1\n")
    broken.chmod(0o755)
    with ForkServer.launch(python=str(broken)) as running, pytest.raises(GraderError, match="no module named torch"):
        wait_ready(running)


def test_what_is_warmed_is_there_in_the_next_worker_and_what_is_not_installed_is_passed_over(
    server: ForkServer, open_folder: Path
) -> None:
    (open_folder / "part.py").write_text("import sys\n\ndef loaded(name):\n    return name in sys.modules")
    with Connection(server) as connection:
        before = connection.spawn(open_folder, ["part"], LIMITS)
        assert call(before, "loaded", "fileinput") == Returned(False)
        connection.warm(["fileinput", "softmark_no_such_library"])
        after = connection.spawn(open_folder, ["part"], LIMITS)
        assert call(after, "loaded", "fileinput") == Returned(True)
        for worker in (before, after):
            worker.close()
        connection.settle()


def test_a_library_that_looks_for_a_temporary_folder_or_sets_a_variable_changes_no_worker(
    server: ForkServer, open_folder: Path
) -> None:
    (open_folder / "part.py").write_text(
        "import os, tempfile\n\ndef see():\n"
        "    return sorted(os.environ), tempfile.gettempdir() == os.environ['TMPDIR']"
    )
    with Connection(server) as connection:
        connection.warm(["torch._dynamo"])
        worker = connection.spawn(open_folder, ["part"], LIMITS)
        variables, own = value(call(worker, "see"))
        assert variables == ["CUDA_VISIBLE_DEVICES", "HOME", "LANG", "OMP_NUM_THREADS", "PATH", "TMPDIR", "USER"]
        assert own
        worker.close()
        connection.settle()


@pytest.mark.parametrize(
    "source", ["import os; os._exit(3)", "import threading as t; t.Thread(target=t.Event().wait).start()"]
)
def test_a_library_that_ends_the_process_or_leaves_a_thread_is_not_warmed(source: str, tmp_path: Path) -> None:
    (tmp_path / "softmark_odd_library.py").write_text(source)
    program = (
        "import sys; sys.path.append(sys.argv[1])\n"
        "from autograder.worker.forkserver.server import warm_up\n"
        "print(warm_up(['softmark_odd_library'], sys.argv[1] + '/home'), 'softmark_odd_library' in sys.modules)"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert said == "False False\n"


def test_a_worker_sees_the_libraries_and_nothing_of_the_graders_path(workers: Workers) -> None:
    source = "import sys\ndef path():\n    return sys.path"
    reply = call(workers.start(source), "path")
    assert isinstance(reply, Returned)
    project = str(Path(__file__).parents[2])
    inside = [entry for entry in reply.value if entry.startswith(project + os.sep)]
    assert all(entry.startswith(sys.prefix) for entry in inside)
    assert project not in reply.value and "" not in reply.value
    assert reply.value[-1] == str(workers.folder)


def test_a_connection_that_is_closed_says_so(server: ForkServer, open_folder: Path) -> None:
    connection = Connection(server)
    connection.close()
    with pytest.raises(GraderError):
        connection.spawn(open_folder, ["part"], LIMITS)


def test_forty_workers_leave_no_descriptor_behind(workers: Workers) -> None:
    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = descriptors()
    for number in range(40):
        worker = workers.start(ONE + "def dies():\n    import os\n    os._exit(0)\n")
        try:
            worker.request(Call(Target("dies" if number % 2 else "one", "part")), cpu_seconds=5, wall_seconds=60)
        except WorkerFailure:
            continue
        worker.close()
    workers.connection.settle()
    assert descriptors() == before


def test_a_strict_umask_of_the_grader_closes_nothing_to_workers(open_folder: Path) -> None:
    (open_folder / "part.py").write_text(ONE)
    old = os.umask(0o077)
    try:
        with ForkServer.launch() as running, Connection(running) as connection:
            assert call(connection.spawn(open_folder, ["part"], LIMITS), "one") == Returned(1)
    finally:
        os.umask(old)
