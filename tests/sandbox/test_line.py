"""All that student code may do to the line that it answers through."""

from __future__ import annotations

import os
import select
import signal
from typing import Any

import pytest
import torch

from autograder.errors import GraderError
from autograder.sandbox.connection import Limits
from autograder.sandbox.deaths import ProtocolBroken, WorkerFailure
from autograder.worker.protocol.messages import Raised, Unreadable
from tests.sandbox.conftest import Workers, call, value


def test_a_result_that_is_no_data_is_named(start: Any) -> None:
    reply = call(start("import torch\ndef gives():\n    return [1, torch.ones(2).to_sparse()]"), "gives")
    assert reply == Unreadable("Tensor (torch.sparse_coo, torch.float32)", "[1]", "it is no dense tensor")


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
from softmark_worker.protocol import messages, wire

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
