"""docs/reference.md is what the code says, and what it says of the boundary is so."""

from __future__ import annotations

import collections
import dataclasses
import random
from pathlib import Path

import numpy as np
import pytest
import torch

from autograder.sandbox.in_process import InProcessWorker
from autograder.worker.protocol.messages import Call, HandleRef, Load, Returned, Target
from autograder.worker.protocol.wire import Unencodable
from scripts import reference_page

Pair = collections.namedtuple("Pair", "a b")


@dataclasses.dataclass
class Point:
    x: int = 1


PART = """
import collections, dataclasses, random, numpy as np, torch
Pair = collections.namedtuple("Pair", "a b")
@dataclasses.dataclass
class Point:
    x: int = 1
GIVES = dict(
    set={1, 2}, frozenset=frozenset([1]), range=range(3), slice=slice(1, 2), counter=collections.Counter("a"),
    array=np.arange(3), number=np.float32(1), dtype=torch.float32, device=torch.device("cpu"), size=torch.Size([1, 2]),
    pair=Pair(1, 2), point=Point(), generator=torch.Generator(), random=random.Random(1), function=len,
    deque=collections.deque([1]), parameter=torch.nn.Parameter(torch.ones(3, 2)).T,
)
def give(name):
    return GIVES[name]
def kind(value):
    return type(value).__name__
"""
ARRIVES = {
    "set": {1, 2},
    "frozenset": frozenset([1]),
    "range": range(3),
    "slice": slice(1, 2),
    "counter": {"a": 1},
    "number": 1.0,
    "dtype": torch.float32,
    "device": torch.device("cpu"),
    "size": (1, 2),
    "pair": (1, 2),
}
GOES = [
    set(),
    frozenset(),
    range(2),
    slice(1),
    np.zeros(2),
    torch.float32,
    torch.device("cpu"),
    Pair(1, 2),
    Point(),
    torch.Generator(),
    random.Random(1),
    np.random.default_rng(1),
    torch.ones(2, 3).T,
    b"",
    1j,
    None,
]


@pytest.fixture
def worker(tmp_path: Path) -> InProcessWorker:
    (tmp_path / "part.py").write_text(PART)
    made = InProcessWorker(tmp_path, ["part"])
    made.request(Load("part"))
    return made


def asked(worker: InProcessWorker, function: str, *args: object) -> object:
    reply = worker.request(Call(Target(function, "part"), args, {}))
    assert isinstance(reply, Returned)
    return reply.value


def test_the_page_is_what_the_code_says() -> None:
    assert reference_page.PAGE.read_text(encoding="utf-8") == reference_page.page(), "python scripts/reference_page.py"


def test_every_decorator_that_is_read_is_told() -> None:
    assert reference_page.decorators_read() == set(reference_page.DECORATORS)


def test_what_comes_from_a_student_is_what_the_page_says(worker: InProcessWorker) -> None:
    for name, expected in ARRIVES.items():
        got = asked(worker, "give", name)
        assert (type(got), got) == (type(expected), expected)
    assert asked(worker, "give", "array").tolist() == [0, 1, 2]
    parameter = asked(worker, "give", "parameter")
    assert parameter.is_contiguous() and not parameter.requires_grad
    for name in ("point", "generator", "random", "function", "deque"):
        assert isinstance(asked(worker, "give", name), HandleRef)


def test_what_goes_to_a_student_is_what_the_page_says(worker: InProcessWorker) -> None:
    for value in GOES:
        assert asked(worker, "kind", value) == type(value).__name__
    assert (asked(worker, "kind", np.float32(1)), asked(worker, "kind", torch.Size([1]))) == ("float", "tuple")
    with pytest.raises(Unencodable):
        asked(worker, "kind", collections.deque())
