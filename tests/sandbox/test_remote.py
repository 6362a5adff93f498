"""Workers from outside: values, limits, deaths, and all that student code may do to the line it answers through."""

from __future__ import annotations

import os
import select
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.errors import GraderError
from autograder.sandbox.failures import ProtocolBroken, TimedOut, WorkerDied, WorkerFailure
from autograder.sandbox.remote import KEPT_OUTPUT, RemoteWorker
from autograder.sandbox.server import Limits
from autograder.worker.commands import Ended
from autograder.worker.messages import (
    Advance,
    Call,
    Load,
    OpenStream,
    Raised,
    Release,
    Returned,
    Streamed,
    Target,
    Unreadable,
    Vjp,
)
from tests.sandbox.conftest import FORKING, LIMITS, Workers, call

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs user ids of its own")


def value(reply: Any) -> Any:
    assert isinstance(reply, Returned), reply
    return reply.value


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
    assert value(worker.request(Load("part"), cpu_seconds=10, wall_seconds=60)) is None
    assert value(call(worker, "one")) == 1


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
    assert set(environment) == {"HOME", "TMPDIR", "PATH", "LANG", "OMP_NUM_THREADS", "USER"}
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


# ------------------------------------------------------------------ what is left behind


DAEMON = """
import os, time
def daemon():
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        child = os.fork()
        if child:
            os.write(write, str(child).encode())
            os._exit(0)
        while True:
            time.sleep(600)
    return int(os.read(read, 20))
"""


def test_a_daemon_dies_with_its_worker(workers: Workers) -> None:
    worker = workers.start(DAEMON, FORKING)
    daemon = value(call(worker, "daemon"))
    os.kill(daemon, 0)
    worker.close()
    workers.connection.settle()
    with pytest.raises(ProcessLookupError):
        os.kill(daemon, 0)


def test_a_daemon_dies_after_its_worker_has_crashed(workers: Workers) -> None:
    worker = workers.start(DAEMON + "def dies():\n    os._exit(0)\n", FORKING)
    daemon = value(call(worker, "daemon"))
    with pytest.raises(WorkerDied):
        call(worker, "dies")
    with pytest.raises(ProcessLookupError):
        os.kill(daemon, 0)


def test_one_workers_end_leaves_the_other_alone(workers: Workers) -> None:
    source = DAEMON + "def one():\n    return 1\n"
    first, second = workers.start(source, FORKING), workers.start(source, FORKING)
    value(call(first, "daemon"))
    assert value(call(second, "one")) == 1
    first.close()
    workers.connection.settle()
    assert value(call(second, "one")) == 1


def test_the_scratch_folder_goes_with_its_worker_however_deep(workers: Workers) -> None:
    source = """
import os
def digs():
    home = os.getcwd()
    for _ in range(1200):
        os.mkdir("d")
        os.chdir("d")
    open("file", "w").close()
    return home
"""
    worker = workers.start(source, replace(LIMITS, scratch_bytes=64 << 20))  # folders count, too
    home = value(call(worker, "digs"))
    assert os.path.isdir(home)
    worker.close()
    workers.connection.settle()
    assert not os.path.exists(home)


@as_root
def test_a_worker_cannot_touch_the_grader_or_the_fork_server(workers: Workers) -> None:
    source = """
import os, resource, signal
def attacks(pid):
    held = []
    for attack in (
        lambda: os.kill(pid, signal.SIGTERM),
        lambda: resource.prlimit(pid, resource.RLIMIT_CPU, (1, 1)),
        lambda: open(f"/proc/{pid}/mem", "rb"),
        lambda: os.listdir(f"/proc/{pid}/fd"),
        lambda: open(f"/proc/{pid}/environ", "rb").read(),
    ):
        try:
            attack()
        except PermissionError:
            held.append(True)
    return len(held)
"""
    worker = workers.start(source)
    for pid in (os.getpid(), os.getppid(), workers.connection._server.pid):
        assert value(call(worker, "attacks", pid)) == 5


# ------------------------------------------------------------------ the line


def test_a_result_that_is_no_data_is_named(start: Any) -> None:
    reply = call(start("def gives():\n    return [1, {2, 3}]"), "gives")
    assert reply == Unreadable("set", "[1]", "")


def test_a_huge_result_is_refused_with_its_reason(workers: Workers) -> None:
    worker = workers.start(
        "import torch\ndef gives():\n    return torch.zeros(20 << 20)", Limits(memory_bytes=512 << 20)
    )
    reply = call(worker, "gives")
    assert isinstance(reply, Unreadable)
    assert reply.reason == "with it the message holds 84 MB; at most 64 MB can be passed on"


@pytest.mark.parametrize(
    "body",
    [
        "os.write(1001, b'nonsense' * 100)",
        "os.write(1001, (1 << 62).to_bytes(8, 'little') * 3)",
        "os.write(1001, bytes(24))",
        "os.close(1001)",
        "os.closerange(3, 4096)",
        "os.close(1000)",
    ],
)
def test_a_broken_line_ends_the_worker(start: Any, body: str) -> None:
    worker = start(f"import os\ndef breaks():\n    {body}\n    while True:\n        pass\ndef one():\n    return 1")
    with pytest.raises(WorkerFailure):
        call(worker, "breaks", cpu=0.5)
    with pytest.raises(GraderError, match="ended already"):
        call(worker, "one")


FORGE = """
import os, struct
from softmark_worker import messages, wire

def ticket():
    import inspect
    frame = inspect.currentframe()
    while "ticket" not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals["ticket"]

def write(message, number):
    os.write(1001, b"".join(wire.encode(message, number)))
"""


def test_a_forged_answer_with_the_right_ticket_is_just_a_value(start: Any) -> None:
    body = "write(messages.Returned(1.5), ticket()); time.sleep(600)"
    worker = start(f"import time\n{FORGE}\ndef forges():\n    {body}")
    assert value(call(worker, "forges")) == 1.5


def test_a_forged_answer_without_the_ticket_is_refused(start: Any) -> None:
    worker = start(f"import time\n{FORGE}\ndef forges():\n    write(messages.Returned(1.5), 7); time.sleep(600)")
    with pytest.raises(ProtocolBroken, match="no answer to the question"):
        call(worker, "forges")


def test_an_answer_too_many_is_no_answer_to_the_next_question(start: Any) -> None:
    worker = start(f"{FORGE}\ndef forges():\n    write(messages.Returned(1.5), ticket())\n    return 2.5")
    with pytest.raises(ProtocolBroken):
        call(worker, "forges")
        call(worker, "forges")


def test_an_answer_before_the_question_is_refused(start: Any) -> None:
    source = f"""
import signal
{FORGE}
def later(*_):
    write(messages.Returned(7.0), 0)
    os.write(1, b"sent")
def prepares():
    signal.signal(signal.SIGUSR1, later)
def asks():
    return 1.0
"""
    worker = start(source)
    call(worker, "prepares")
    os.kill(worker.pid, signal.SIGUSR1)
    assert select.select([worker._output], [], [], 60)[0]
    with pytest.raises(ProtocolBroken, match="before the question"):
        call(worker, "asks")


def test_an_answer_of_another_kind_is_refused(start: Any) -> None:
    body = 'write(messages.Found("class"), ticket()); time.sleep(600)'
    worker = start(f"import time\n{FORGE}\ndef forges():\n    {body}")
    with pytest.raises(ProtocolBroken, match="a Call was answered by a Found"):
        call(worker, "forges")


def test_a_forged_failure_is_cut_to_size(start: Any) -> None:
    source = f"""
import time
{FORGE}
def forges():
    write(messages.Raised(("E" * 1000,) * 100, "m" * 9000, "f" * 90_000), ticket())
    time.sleep(600)
"""
    reply = call(start(source), "forges")
    assert isinstance(reply, Raised)
    assert (len(reply.kinds), len(reply.kinds[0]), len(reply.message), len(reply.frames)) == (20, 200, 2000, 6000)


def test_a_patched_torch_changes_nothing_here(start: Any) -> None:
    source = """
import torch
torch.allclose = lambda *a, **k: True
torch.Tensor.__eq__ = lambda self, other: True
torch.Tensor.detach = lambda self: 1 / 0
def zeros():
    return torch.zeros(2)
"""
    worker = start(source)
    assert isinstance(call(worker, "zeros"), Raised)
    assert not torch.allclose(torch.zeros(2), torch.ones(2))


# ------------------------------------------------------------------ output


def test_what_is_printed_is_kept(start: Any) -> None:
    source = "import sys\ndef prints():\n    print('one')\n    print('two', file=sys.stderr)\n    return 3"
    worker = start(source)
    assert value(call(worker, "prints")) == 3
    assert worker.output == "one\ntwo\n"
    worker.close()
    assert worker.output == "one\ntwo\n"


def test_what_was_printed_before_a_crash_is_kept(start: Any) -> None:
    worker = start("import os\ndef prints():\n    print('before the end')\n    os._exit(0)")
    with pytest.raises(WorkerDied):
        call(worker, "prints")
    assert worker.output == "before the end\n"


def test_a_flood_of_prints_is_counted_not_kept_and_blocks_nothing(start: Any) -> None:
    worker = start("def prints():\n    for _ in range(100_000):\n        print('x' * 9)\n    return 1")
    for _ in range(3):
        assert value(call(worker, "prints", cpu=5)) == 1
    kept, _, rest = worker.output.partition("\n[")
    assert len(kept) == KEPT_OUTPUT
    assert rest == "2,990,000 more bytes]"


def test_a_flood_from_native_code_blocks_nothing(start: Any) -> None:
    worker = start(
        "import os\ndef prints():\n    for _ in range(200):\n        os.write(2, b'y' * 50_000)\n    return 1"
    )
    assert value(call(worker, "prints")) == 1
    assert worker.output.endswith("[9,990,000 more bytes]")


def test_bytes_that_are_no_text_are_shown_as_such(start: Any) -> None:
    worker = start("import os\ndef prints():\n    os.write(1, b'\\xff\\xfe')\n    print('\\ud800')\n    return 1")
    assert value(call(worker, "prints")) == 1
    assert worker.output == "\ufffd\ufffd\\ud800\n"


# ------------------------------------------------------------------ whose fault


def test_a_worker_that_cannot_set_itself_up_is_the_graders_fault(server: Any, open_folder: Path) -> None:
    with server.connect() as connection:
        worker = connection.spawn(open_folder, ["part"], LIMITS, readable=["/nowhere/at/all"])
        with pytest.raises(GraderError, match="could not set itself up: FileNotFoundError"):
            worker.request(Load("part"), cpu_seconds=1, wall_seconds=60)


class _Undertaker:
    """A connection that only buries."""

    def end(self, worker: int) -> None:
        pass

    def wait_ended(self, worker: int) -> Ended:
        return Ended(worker, os.waitpid(worker, 0)[1], 0.0, 0)


def test_a_worker_that_dies_before_it_was_ready_is_the_graders_fault() -> None:
    pipes = [os.pipe() for _ in range(3)]
    pid = os.fork()
    if pid == 0:
        os._exit(3)
    ends = (pipes[0][1], pipes[1][0], pipes[2][0])
    worker = RemoteWorker(_Undertaker(), pid, None, os.pidfd_open(pid), *ends)  # pyright: ignore[reportArgumentType]
    for descriptor in (pipes[0][0], pipes[1][1], pipes[2][1]):
        os.close(descriptor)
    with pytest.raises(GraderError, match="a worker exited with status 3 before it was ready"):
        worker.request(Load("part"), cpu_seconds=1, wall_seconds=60)


def test_arguments_that_are_no_data_are_refused_before_anything_is_sent(start: Any) -> None:
    from autograder.worker.wire import Unencodable

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


@pytest.mark.parametrize("name", ["all_at_once", "keeps_what_it_has_seen"])
def test_memory_is_held_while_a_stream_is_consumed(start: Any, name: str) -> None:
    reply = stream_through(start(STREAMS), name, 32 << 20)
    assert isinstance(reply, Raised)
    assert reply.kinds[0] == "MemoryError"


@pytest.mark.parametrize("name", ["one_by_one", "keeps_the_last_hundred"])
def test_what_keeps_a_bounded_number_of_items_stays_within_the_memory_of_a_stream(start: Any, name: str) -> None:
    reply = stream_through(start(STREAMS), name, 32 << 20)
    assert isinstance(reply, Streamed)
    assert (reply.pulled, reply.done) == (1000, True)


def test_after_a_stream_the_memory_of_the_check_is_there_again(start: Any) -> None:
    worker = start(STREAMS)
    reply = stream_through(worker, "one_by_one", 32 << 20)
    assert isinstance(call(worker, "takes", 50), Raised)
    worker.request(Release(reply.stream), cpu_seconds=1.0, wall_seconds=10.0)
    assert value(call(worker, "takes", 50)) == 50 << 20


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
