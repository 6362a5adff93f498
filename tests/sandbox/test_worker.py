"""Workers from outside: values, what student code finds there, deaths, and whose fault it is."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.errors import GraderError
from autograder.sandbox.connection import Connection
from autograder.sandbox.deaths import WorkerDied
from autograder.sandbox.worker import RemoteWorker
from autograder.worker.protocol.commands import Ended
from autograder.worker.protocol.messages import Call, Load, Loaded, Raised, Returned, Target, Vjp
from tests.sandbox.conftest import FORKING, LIMITS, Workers, call, value

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs user ids of its own")


# ------------------------------------------------------------------ what works


def test_tensors_go_over_and_come_back(start: Any) -> None:
    worker = start("def double(x, *, times=2):\n    return x * times")
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(value(call(worker, "double", x)), x * 2)


def test_a_large_tensor_goes_over_and_comes_back(start: Any) -> None:
    worker = start("def same(x):\n    return x")
    x = torch.arange(3_000_000, dtype=torch.float32)
    assert torch.equal(value(call(worker, "same", x)), x)


def test_gradients_come_back(start: Any) -> None:
    worker = start("def square(x):\n    return x ** 2")
    request = Vjp(Target("square", "part"), (torch.tensor([3.0]),), {}, (torch.tensor([1.0]),))
    assert worker.request(request, cpu_seconds=10, wall_seconds=60).args[0].tolist() == [6.0]


def test_what_was_defined_before_an_exit_counts(start: Any) -> None:
    worker = start("import sys\ndef one():\n    return 1\nsys.exit(0)")
    assert worker.request(Load("part"), cpu_seconds=10, wall_seconds=60) == Loaded({"one": "function"})
    assert value(call(worker, "one")) == 1


LIBRARY = """
import threading
import torch
from torch.nn.functional import scaled_dot_product_attention as attention
from torch.utils._python_dispatch import _disable_current_modes
q = torch.ones(1, 2, 3, 4)
tried = attention(q, q, q).shape
def plain():
    return attention(q[0], q[0], q[0])
def learns():
    return attention(q.clone().requires_grad_(), q, q)
def below():
    return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, q, q)
def fused():
    return torch.nn.MultiheadAttention(4, 2).eval()(q[0], q[0], q[0], need_weights=False)
def unseen():
    with _disable_current_modes():
        return attention(q, q, q)
def in_a_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(attention(q, q, q)))
    thread.start()
    thread.join()
    return found
"""


def test_what_a_part_forbids_is_not_there_in_its_worker_once_it_is_loaded(start: Any) -> None:
    names = ("plain", "learns", "below", "fused", "unseen")
    worker = start(LIBRARY)
    assert all(isinstance(call(worker, name), Returned) for name in names)
    worker = start(LIBRARY)
    load = Load("part", ("library attention", "custom operators"))
    assert isinstance(worker.request(load, cpu_seconds=10, wall_seconds=60), Loaded)
    for name in names:
        reply = call(worker, name)
        assert isinstance(reply, Raised) and "left out" in reply.message, (name, reply)
    assert value(call(worker, "in_a_thread")) == []


def test_where_memory_runs_out_the_kernel_is_to_end_a_worker_first(start: Any) -> None:
    worker = start("def one():\n    return 1")
    assert value(call(worker, "one")) == 1
    assert Path(f"/proc/{worker.pid}/oom_score_adj").read_text().strip() == "1000"


def test_an_exit_in_a_call_is_raised_and_the_worker_lives(start: Any) -> None:
    worker = start("import sys\ndef leaves():\n    sys.exit(3)\ndef one():\n    return 1")
    assert isinstance(call(worker, "leaves"), Raised)
    assert value(call(worker, "one")) == 1


def test_every_worker_starts_anew_with_the_same_random_numbers(workers: Workers) -> None:
    source = "import random, numpy, torch\ndef draw():\n    return torch.rand(1), numpy.random.rand(), random.random()"
    first, second = (value(call(workers.start(source), "draw")) for _ in range(2))
    assert first == second


def test_threads_of_student_code_do_not_disturb(start: Any) -> None:
    source = """
import threading, time
def spin():
    while True:
        time.sleep(0.0001)
def starts():
    for _ in range(3):
        threading.Thread(target=spin, daemon=True).start()
    return threading.active_count()
"""
    worker = start(source)
    assert [value(call(worker, "starts")) for _ in range(3)] == [4, 7, 10]


def test_two_threads_of_torch_work_after_the_fork(start: Any) -> None:
    source = """
import torch
def product(x):
    torch.set_num_threads(2)
    return x @ x
"""
    x = torch.eye(300)
    assert torch.equal(value(call(start(source), "product", x)), x)


def test_a_backward_pass_on_two_threads_works_after_the_fork(start: Any) -> None:
    source = """
import torch
def learns():
    torch.set_num_threads(2)
    x = torch.randn(700, 700, requires_grad=True)
    torch.softmax(x @ x, -1).square().sum().backward()
    return torch.get_num_threads(), x.grad.shape[0]
"""
    assert value(call(start(source), "learns")) == (2, 700)


SHARES = """
import fcntl, os, struct
LOCK = "hhqqi4x"
def leaves(path):
    here = os.open(path, os.O_RDONLY) if path else 0
    fcntl.fcntl(here, fcntl.F_SETFL, fcntl.fcntl(here, fcntl.F_GETFL) | os.O_NONBLOCK | os.O_APPEND)
    for kind in (37, fcntl.F_SETLK):
        try:
            fcntl.fcntl(here, kind, struct.pack(LOCK, fcntl.F_RDLCK, os.SEEK_SET, 7, 1, 0))
        except OSError:
            pass
    try:
        fcntl.flock(here, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        pass
    return 1
def finds(path):
    here = os.open(path, os.O_RDONLY) if path else 0
    found = fcntl.fcntl(here, 36, struct.pack(LOCK, fcntl.F_WRLCK, os.SEEK_SET, 7, 1, 0))
    flags = fcntl.fcntl(here, fcntl.F_GETFL) & (os.O_NONBLOCK | os.O_APPEND)
    fcntl.flock(here, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return flags, struct.unpack(LOCK, found)[0] == fcntl.F_UNLCK
"""


@pytest.mark.parametrize("path", ["", "/dev/null", torch.__file__])
def test_neither_standard_input_nor_a_lock_tells_the_next_worker_anything(start: Any, path: str) -> None:
    leaves = start(SHARES)
    assert value(call(leaves, "leaves", path)) == 1
    assert value(call(start(SHARES), "finds", path)) == (0, True)  # while the first is alive
    leaves.close()
    assert value(call(start(SHARES), "finds", path)) == (0, True)


def test_descriptors_0_to_100_may_be_closed(start: Any) -> None:
    source = "import os\ndef closes():\n    os.closerange(0, 101)\n    return 1"
    worker = start(source)
    assert [value(call(worker, "closes")) for _ in range(3)] == [1, 1, 1]


def test_temporary_files_and_files_beside_the_part_can_be_used(start: Any) -> None:
    source = """
import tempfile
def uses():
    with tempfile.TemporaryFile("w+") as file:
        file.write("mine")
        file.seek(0)
        return file.read(), open("data.txt").read()
"""
    assert value(call(start(source, data__txt="given"), "uses")) == ("mine", "given")


def test_the_environment_holds_nothing_of_the_graders(start: Any) -> None:
    source = """
import os, sys
def see():
    return dict(os.environ), sys.argv, [name for name in sys.modules if "autograder" in name]
"""
    environment, arguments, modules = value(call(start(source), "see"))
    assert set(environment) == {"HOME", "TMPDIR", "PATH", "LANG", "OMP_NUM_THREADS", "USER", "CUDA_VISIBLE_DEVICES"}
    assert arguments == [""]
    assert modules == []


def test_only_the_lines_descriptors_and_the_memory_account_are_open(start: Any) -> None:
    source = """
import os
def descriptors():
    found = []
    for number in range(4096):
        try:
            os.fstat(number)
        except OSError:
            continue
        found.append(number)
    return found
"""
    assert value(call(start(source), "descriptors")) == [0, 1, 2, 1000, 1001, 1002]  # 1002: how much memory it has


@as_root
def test_a_worker_has_a_user_id_of_its_own_and_no_groups(workers: Workers) -> None:
    source = "import os\ndef who():\n    return os.getresuid(), os.getresgid(), os.getgroups()"
    seen: set[int] = set()
    for _ in range(3):
        worker = workers.start(source)
        assert value(call(worker, "who")) == ((worker.uid,) * 3, (worker.uid,) * 3, [])
        seen.add(worker.uid)
    assert len(seen) == 3 and min(seen) >= 20_000


# ------------------------------------------------------------------ deaths


@pytest.mark.parametrize(
    ("body", "description"),
    [
        ("os._exit(0)", "exited with status 0"),
        ("os._exit(7)", "exited with status 7"),
        ("ctypes.string_at(0)", "killed by SIGSEGV (segmentation fault)"),
        ("os.abort()", "killed by SIGABRT (aborted)"),
        ("os.kill(os.getpid(), signal.SIGKILL)", "killed by SIGKILL (killed, perhaps for want of memory)"),
    ],
)
def test_a_death_in_a_call_is_described(start: Any, body: str, description: str) -> None:
    worker = start(f"import ctypes, os, signal\ndef dies():\n    {body}")
    with pytest.raises(WorkerDied) as caught:
        call(worker, "dies")
    assert caught.value.description == description


def test_a_death_at_import_is_described(start: Any) -> None:
    worker = start("import os\nos._exit(4)")
    with pytest.raises(WorkerDied) as caught:
        worker.request(Load("part"), cpu_seconds=10, wall_seconds=60)
    assert caught.value.description == "exited with status 4"


def test_a_death_between_calls_is_described_at_the_next(start: Any) -> None:
    worker = start("def one():\n    return 1")
    assert value(call(worker, "one")) == 1
    os.kill(worker.pid, signal.SIGKILL)
    with pytest.raises(WorkerDied, match="SIGKILL"):
        call(worker, "one")


def test_a_dead_worker_refuses_further_calls(start: Any) -> None:
    worker = start("import os\ndef dies():\n    os._exit(0)")
    with pytest.raises(WorkerDied):
        call(worker, "dies")
    with pytest.raises(GraderError, match="ended already"):
        call(worker, "dies")


def test_a_child_that_holds_the_line_open_hides_no_death(start: Any) -> None:
    source = """
import os, time
def dies():
    if os.fork() == 0:
        time.sleep(600)
    os._exit(5)
"""
    with pytest.raises(WorkerDied, match="exited with status 5"):
        call(start(source, FORKING), "dies")


def test_a_copy_that_returns_from_the_call_does_not_answer(start: Any) -> None:
    source = "import os\ndef forks():\n    return os.fork() > 0\ndef one():\n    return 1"
    worker = start(source, FORKING)
    assert value(call(worker, "forks")) is True
    assert value(call(worker, "one")) == 1


# ------------------------------------------------------------------ whose fault


def test_a_worker_that_cannot_set_itself_up_is_the_graders_fault(server: Any, open_folder: Path) -> None:
    with Connection(server) as connection:
        worker = connection.spawn(open_folder, ["part"], LIMITS, readable=["/nowhere/at/all"])
        with pytest.raises(GraderError, match="could not set itself up: FileNotFoundError"):
            worker.request(Load("part"), cpu_seconds=1, wall_seconds=60)


def test_a_worker_that_dies_before_it_was_ready_is_the_graders_fault() -> None:
    pipes = [os.pipe() for _ in range(3)]
    pid = os.fork()
    if pid == 0:
        os._exit(3)
    ends = (pipes[0][1], pipes[1][0], pipes[2][0])

    def buried(worker: int) -> Ended:
        return Ended(worker, os.waitpid(worker, 0)[1], 0.0, 0)

    worker = RemoteWorker(lambda _: None, buried, pid, None, os.pidfd_open(pid), *ends)
    for descriptor in (pipes[0][0], pipes[1][1], pipes[2][1]):
        os.close(descriptor)
    with pytest.raises(GraderError, match="a worker exited with status 3 before it was ready"):
        worker.request(Load("part"), cpu_seconds=1, wall_seconds=60)


def test_arguments_that_are_no_data_are_refused_before_anything_is_sent(start: Any) -> None:
    from autograder.worker.protocol.wire import Unencodable

    worker = start("def one(x):\n    return 1")
    with pytest.raises(Unencodable):
        call(worker, "one", object())
    assert value(call(worker, "one", 2)) == 1


def test_time_is_accounted_by_call(start: Any) -> None:
    worker = start("def works():\n    return sum(range(2_000_000))")
    assert worker.cpu_seconds == 0.0
    worker.request(Call(Target("works", "part")), cpu_seconds=10, wall_seconds=60)
    once = worker.cpu_seconds
    assert once > 0.0 and worker.wall_seconds > 0.0
    worker.request(Call(Target("works", "part")), cpu_seconds=10, wall_seconds=60)
    assert worker.cpu_seconds > once
