"""What is told of an exception of student code, whatever it is made of."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.worker.loader import Loader
from autograder.worker.tracebacks import raised


def failure(tmp_path: Path, source: str) -> SimpleNamespace:
    """The reply for what `f()` raises, taken apart."""
    (tmp_path / "part.py").write_text(source)
    with pytest.raises(BaseException) as caught:
        Loader(tmp_path, ["part"]).load("part").f()
    reply = raised(caught.value, str(tmp_path))
    return SimpleNamespace(kinds=reply.kinds, message=reply.message, frames=reply.frames)


def test_lone_surrogates_arrive_as_escapes(tmp_path: Path) -> None:
    reply = failure(tmp_path, "def f():\n    raise ValueError('\\udfff said')")
    assert (reply.kinds[0], reply.message) == ("ValueError", "\\udfff said")


def test_a_frame_that_is_noted_twice_is_told_once(tmp_path: Path) -> None:
    source = """
import sys

def stops(frame, event, argument):
    if event == "line" and frame.f_code.co_name == "inner":
        raise KeyError("stop")
    return stops

def inner():
    return 1

def f():
    before = sys.gettrace()
    sys.settrace(stops)
    try:
        return inner()
    finally:
        sys.settrace(before)
"""
    lines = [line for line in failure(tmp_path, source).frames.splitlines() if line.startswith("part.py")]
    assert [line.rpartition(" ")[2] for line in lines] == ["f", "inner", "stops"]


def test_each_call_of_a_recursion_is_told(tmp_path: Path) -> None:
    source = "def f(n=3):\n    if n == 0:\n        raise ValueError\n    return f(n - 1)"
    assert failure(tmp_path, source).frames.count("in f") == 4
