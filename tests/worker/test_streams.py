"""Streams: what is pulled and when, through an executor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from autograder.worker.executor import Executor
from autograder.worker.loader import Loader
from autograder.worker.protocol.messages import (
    Advance,
    Missing,
    OpenStream,
    Raised,
    Release,
    Returned,
    Streamed,
    Target,
)

SOURCE = """
def each_letter(items):
    for item in items:
        yield from item


def letters_of_all(items):
    return list("".join(items))


def after(prefix, items, *, suffix=""):
    return (prefix + item + suffix for item in items)


def fails_at_the_second(items):
    yield next(items)
    raise ValueError("no more")


def returns_a_number(items):
    return 3


def has_a_length(items):
    yield hasattr(items, "__len__")
"""


class Meter:
    """Notes what a stream asks of the memory limit."""

    def __init__(self) -> None:
        self.calls: list[int | str] = []

    def lower(self, allowance: int) -> None:
        self.calls.append(allowance)

    def restore(self) -> None:
        self.calls.append("restored")


@pytest.fixture
def meter() -> Meter:
    return Meter()


@pytest.fixture
def executor(tmp_path: Path, meter: Meter) -> Executor:
    (tmp_path / "part.py").write_text(SOURCE)
    return Executor(Loader(tmp_path, ["part"]), meter)


def target(name: str) -> Target:
    return Target(name, "part")


def opened(executor: Executor, name: str, items: tuple[Any, ...], **more: Any) -> Streamed:
    reply = executor.carry_out(OpenStream(target(name), (), {}, items, **more))
    assert isinstance(reply, Streamed), reply
    return reply


def advance(executor: Executor, stream: Streamed, most: int) -> Any:
    return executor.carry_out(Advance(target(""), stream.stream, most))


def test_a_generator_pulls_an_item_when_an_output_needs_it(executor: Executor) -> None:
    stream = opened(executor, "each_letter", ("ab", "", "cd"))
    assert stream == Streamed(stream.stream, [], 0)
    assert advance(executor, stream, 1) == Streamed(stream.stream, ["a"], 1)
    assert advance(executor, stream, 1) == Streamed(stream.stream, ["b"], 1)
    assert advance(executor, stream, 1) == Streamed(stream.stream, ["c"], 3)
    assert advance(executor, stream, 5) == Streamed(stream.stream, ["d"], 3, done=True)
    assert advance(executor, stream, 5) == Streamed(stream.stream, [], 3, done=True)


def test_what_collects_everything_has_pulled_everything_before_the_first_output(executor: Executor) -> None:
    stream = opened(executor, "letters_of_all", ("ab", "cd"))
    assert stream.pulled == 2
    assert advance(executor, stream, 1) == Streamed(stream.stream, ["a"], 2)


def test_counted_items_begin_again_and_carry_their_number(executor: Executor) -> None:
    reply = executor.carry_out(OpenStream(target("after"), ("<",), {"suffix": ">"}, ("a", "b"), count=3))
    assert isinstance(reply, Streamed)
    assert advance(executor, reply, 9) == Streamed(reply.stream, ["<a0>", "<b1>", "<a2>"], 3, done=True)


def test_the_iterator_has_no_length(executor: Executor) -> None:
    assert advance(executor, opened(executor, "has_a_length", ("a",)), 1).value == [False]


def test_what_cannot_be_iterated_over_is_told_in_a_sentence(executor: Executor) -> None:
    reply = executor.carry_out(OpenStream(target("returns_a_number"), (), {}, ("a",)))
    assert isinstance(reply, Raised)
    assert reply.message == "it returned a value of type int, which yields nothing: return an iterator, or use yield"


def test_an_exception_while_it_is_consumed_is_the_students(executor: Executor, meter: Meter) -> None:
    stream = opened(executor, "fails_at_the_second", ("a", "b"), memory_bytes=1000)
    assert advance(executor, stream, 1).value == ["a"]
    reply = advance(executor, stream, 1)
    assert isinstance(reply, Raised)
    assert (reply.kinds[0], reply.message) == ("ValueError", "no more")
    assert meter.calls == [1000, "restored"]


def test_the_limit_holds_from_the_call_to_the_release(executor: Executor, meter: Meter) -> None:
    stream = opened(executor, "each_letter", ("ab",), memory_bytes=1000)
    advance(executor, stream, 9)
    assert meter.calls == [1000]
    assert executor.carry_out(Release(stream.stream)) == Returned(None)
    assert meter.calls == [1000, "restored"]


def test_a_stream_that_is_not_there_is_missing(executor: Executor) -> None:
    assert isinstance(executor.carry_out(Advance(target(""), 99, 1)), Missing)
