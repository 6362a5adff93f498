"""The worker without a process behaves as a forked one does, values and all."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from autograder.sandbox.in_process import InProcessWorker
from autograder.worker.protocol.messages import Call, HandleRef, Load, Loaded, Raised, Returned, Target, Unreadable
from autograder.worker.protocol.wire import Unencodable

SOURCE = """
import torch
def clears(x):
    x.zero_()
    return x
def needs_gradient(x):
    return x * torch.ones(2, requires_grad=True)
def gives_a_sparse_one():
    return torch.ones(2).to_sparse()
class Net(torch.nn.Module):
    def forward(self, x):
        return x + 1
"""


@pytest.fixture
def worker(tmp_path: Path) -> InProcessWorker:
    (tmp_path / "part.py").write_text(SOURCE)
    return InProcessWorker(tmp_path, ["part"])


def named(name: str, handle: int | None = None) -> Target:
    return Target(name, "part", handle)


def test_it_imports_and_calls(worker: InProcessWorker) -> None:
    loaded = worker.request(Load("part"))
    assert isinstance(loaded, Loaded) and loaded.kinds["Net"] == "class"
    reply = worker.request(Call(named("Net")))
    assert reply == Returned(HandleRef(1, "Net"))
    reply = worker.request(Call(named("", 1), (torch.zeros(2),)), cpu_seconds=1, wall_seconds=1)
    assert isinstance(reply, Returned) and reply.value.tolist() == [1.0, 1.0]


def test_an_argument_cannot_be_changed_from_inside(worker: InProcessWorker) -> None:
    x = torch.ones(2)
    reply = worker.request(Call(named("clears"), (x,)))
    assert isinstance(reply, Returned) and reply.value.tolist() == [0.0, 0.0]
    assert x.tolist() == [1.0, 1.0]


def test_a_result_comes_without_history(worker: InProcessWorker) -> None:
    reply = worker.request(Call(named("needs_gradient"), (torch.ones(2),)))
    assert isinstance(reply, Returned) and not reply.value.requires_grad


def test_what_is_no_data_is_named(worker: InProcessWorker) -> None:
    kind = "Tensor (torch.sparse_coo, torch.float32)"
    assert worker.request(Call(named("gives_a_sparse_one"))) == Unreadable(kind, "", "it is no dense tensor")
    with pytest.raises(Unencodable):
        worker.request(Call(named("clears"), (object(),)))


def test_an_exception_is_raised_with_the_frames_of_the_folder_only(worker: InProcessWorker) -> None:
    reply = worker.request(Call(named("clears"), (3,)))
    assert isinstance(reply, Raised)
    assert reply.frames == "part.py, line 4, in clears\n    x.zero_()"
