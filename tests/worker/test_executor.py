"""What a request does, and what its reply says: values, handles, missing names, exceptions, observations, gradients."""

from __future__ import annotations

import py_compile
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.worker.executor import Executor
from autograder.worker.loader import Loader
from autograder.worker.protocol.messages import (
    Call,
    Found,
    Gradients,
    HandleRef,
    Load,
    Loaded,
    Look,
    Misfit,
    Missing,
    Observe,
    Observed,
    Raised,
    Release,
    Returned,
    Target,
    Vjp,
)

SOURCE = """
import functools
import random
import sys
import torch
from torch.nn.functional import relu

SYMMETRIES = {"attention": ["permutation"], "n": 3}
doubled = functools.partial(torch.mul, 2.0)


def softmax(x, dim=-1):
    return x.exp() / x.exp().sum(dim, keepdim=True)


def fails(depth):
    if depth:
        return fails(depth - 1)
    raise ValueError("no" * 2000)


def raises(name):
    raise {"exit": SystemExit(3), "keyboard": KeyboardInterrupt(), "memory": MemoryError(), "key": KeyError("a")}[name]


def recurses(n):
    return recurses(n + 1)


class ValueError_(Exception):
    pass


ValueError_.__name__ = "ValueError"


def raises_own():
    raise ValueError_("mine")


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no text")


def raises_unprintable():
    raise Unprintable


def reaches_library(x):
    return torch.zeros(2) @ torch.zeros(3)


def works_in_place(x, items):
    x.zero_()
    items.append(1)
    torch.rand(1)
    random.random()
    return x


def constant(x):
    return torch.ones(2)


def detached(x):
    return x.detach() * 2


def two(x, rest):
    return x * rest["w"], (x.sum() + rest["w"].sum(), 3)


class Net(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = torch.nn.Linear(size, size, bias=False)
        self.size = size
        with torch.no_grad():
            self.linear.weight.fill_(2.0)

    def forward(self, x):
        return self.linear(x)

    def twice(self, x):
        return self(self(x))

    @property
    def broken(self):
        return self.nothing
"""


@pytest.fixture
def executor(tmp_path: Path) -> Executor:
    (tmp_path / "attention.py").write_text(SOURCE)
    return Executor(Loader(tmp_path, ["attention"]))


def named(name: str, handle: int | None = None) -> Target:
    return Target(name, "attention", handle)


def value(reply: Any) -> Any:
    assert isinstance(reply, Returned), reply
    return reply.value


def test_a_call_returns_its_value(executor: Executor) -> None:
    out = value(executor.carry_out(Call(named("softmax"), (torch.zeros(2, 2),), {"dim": 0})))
    assert out.tolist() == [[0.5, 0.5], [0.5, 0.5]]


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("softmax", Found("function")),
        ("Net", Found("class")),
        ("relu", Found("function")),
        ("doubled", Found("function")),
        ("SYMMETRIES", Returned({"attention": ["permutation"], "n": 3})),
        ("softmx", Missing("softmx", ("softmax",))),
    ],
)
def test_a_look_says_what_a_name_is(executor: Executor, name: str, reply: Any) -> None:
    assert executor.carry_out(Look(named(name))) == reply


def test_a_missing_function_is_missing_in_a_call_too(executor: Executor) -> None:
    assert executor.carry_out(Call(named("atention"))) == Missing("atention", ())


def test_a_class_yields_a_handle_that_is_called_by_method_and_by_itself(executor: Executor) -> None:
    handle = value(executor.carry_out(Call(named("Net"), (2,))))
    assert handle == HandleRef(1, "Net")
    x = torch.ones(1, 2)
    assert value(executor.carry_out(Call(named("", handle.id), (x,)))).tolist() == [[4.0, 4.0]]
    assert value(executor.carry_out(Call(named("twice", handle.id), (x,)))).tolist() == [[16.0, 16.0]]
    assert value(executor.carry_out(Look(named("size", handle.id)))) == 2
    assert executor.carry_out(Look(named("siz", handle.id))) == Missing("siz", ("size",))
    weights = value(executor.carry_out(Call(named("state_dict", handle.id))))
    assert list(weights) == ["linear.weight"]


def test_a_state_dict_can_be_loaded(executor: Executor) -> None:
    handle = value(executor.carry_out(Call(named("Net"), (2,))))
    executor.carry_out(Call(named("load_state_dict", handle.id), ({"linear.weight": torch.eye(2)},)))
    x = torch.tensor([[1.0, 2.0]])
    assert value(executor.carry_out(Call(named("", handle.id), (x,)))).tolist() == [[1.0, 2.0]]


def test_a_method_that_returns_the_object_gives_its_handle_back(executor: Executor) -> None:
    handle = value(executor.carry_out(Call(named("Net"), (2,))))
    assert value(executor.carry_out(Call(named("eval", handle.id)))) == handle


def test_a_handle_can_be_an_argument_and_a_released_one_is_missing(executor: Executor) -> None:
    handle = value(executor.carry_out(Call(named("Net"), (2,))))
    observed = executor.carry_out(Observe(named("constant"), (handle,)))
    assert isinstance(observed, Observed) and observed.args == (handle,)
    executor.carry_out(Release(handle.id))
    assert isinstance(executor.carry_out(Call(named("", handle.id), (torch.ones(1, 2),))), Missing)
    assert isinstance(executor.carry_out(Call(named("constant"), (handle,))), Missing)


def test_an_attribute_error_inside_a_property_is_raised_not_missing(executor: Executor) -> None:
    handle = value(executor.carry_out(Call(named("Net"), (2,))))
    reply = executor.carry_out(Look(named("broken", handle.id)))
    assert isinstance(reply, Raised) and reply.kinds[0] == "AttributeError"


def test_an_exception_arrives_with_the_students_frames_only(executor: Executor) -> None:
    reply = executor.carry_out(Call(named("reaches_library"), (torch.zeros(1),)))
    assert isinstance(reply, Raised)
    assert reply.kinds == ("RuntimeError", "Exception", "BaseException", "object")
    lines = reply.frames.splitlines()
    assert lines[0].startswith("attention.py, line ") and lines[0].endswith(", in reaches_library")
    assert lines[1] == "    return torch.zeros(2) @ torch.zeros(3)"
    assert len(lines) == 2


def test_a_long_message_and_many_frames_are_cut(executor: Executor) -> None:
    reply = executor.carry_out(Call(named("fails"), (50,)))
    assert isinstance(reply, Raised)
    assert len(reply.message) == 2000
    assert reply.frames.count("attention.py") == 10
    assert "(41 more)" in reply.frames
    assert 'raise ValueError("no" * 2000)' in reply.frames.splitlines()[-1]


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("exit", "SystemExit", "3"),
        ("keyboard", "KeyboardInterrupt", ""),
        ("memory", "MemoryError", ""),
        ("key", "KeyError", "'a'"),
    ],
)
def test_whatever_is_raised_is_a_reply(executor: Executor, name: str, kind: str, message: str) -> None:
    reply = executor.carry_out(Call(named("raises"), (name,)))
    assert isinstance(reply, Raised)
    assert (reply.kinds[0], reply.message) == (kind, message)


def test_endless_recursion_is_a_reply_and_the_next_call_works(executor: Executor) -> None:
    reply = executor.carry_out(Call(named("recurses"), (0,)))
    assert isinstance(reply, Raised) and reply.kinds[0] == "RecursionError"
    assert value(executor.carry_out(Call(named("constant"), (0,)))).tolist() == [1.0, 1.0]


def test_a_class_that_takes_a_builtins_name_is_told_apart(executor: Executor) -> None:
    reply = executor.carry_out(Call(named("raises_own")))
    assert isinstance(reply, Raised)
    assert reply.kinds[:2] == ("attention.ValueError", "Exception")


def test_an_exception_whose_text_fails_is_still_told(executor: Executor) -> None:
    reply = executor.carry_out(Call(named("raises_unprintable")))
    assert isinstance(reply, Raised)
    assert reply.kinds[0] == "Unprintable"
    assert reply.message == "(its message could not be made: RuntimeError)"


def test_a_loaded_part_names_its_functions_and_classes(tmp_path: Path) -> None:
    source = """
from math import pi
class Head: pass
attention = lambda q: q
def _private(): pass
class Odd:
    __class__ = property(lambda self: 1 / 0)
odd = Odd()
globals()[3] = globals()["no name"] = attention
"""
    (tmp_path / "attention.py").write_text(source)
    kinds = {"Head": "class", "attention": "function", "Odd": "class"}
    assert Executor(Loader(tmp_path, ["attention"])).carry_out(Load("attention")) == Loaded(kinds)


@pytest.mark.parametrize("base", ["types.ModuleType", "object"])
def test_of_what_a_part_puts_in_its_own_place_only_a_look_can_tell(tmp_path: Path, base: str) -> None:
    source = f"""
import sys, types
def double(x): return 2 * x
class Other({base}):
    __slots__ = ("__name__",)
    double = property(lambda self: 7)
other = Other.__new__(Other)
if isinstance(other, types.ModuleType):
    other.__dict__["double"] = double
sys.modules[__name__] = other
"""
    (tmp_path / "attention.py").write_text(source)
    executor = Executor(Loader(tmp_path, ["attention"]))
    assert executor.carry_out(Load("attention")) == Loaded({})
    assert executor.carry_out(Look(named("double"))) == Returned(7)


def test_byte_code_beside_a_part_is_not_taken_for_it(tmp_path: Path) -> None:
    part = tmp_path / "attention.py"
    part.write_text("def f():\n    return 'old'\n")
    py_compile.compile(str(part), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    part.write_text("def f():\n    return 'new'\n")
    assert Executor(Loader(tmp_path, ["attention"])).carry_out(Call(named("f"))) == Returned("new")


def test_a_syntax_error_at_import_names_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "attention.py").write_text("x = 1\ndef f(:\n    pass\n")
    reply = Executor(Loader(tmp_path, ["attention"])).carry_out(Load("attention"))
    assert isinstance(reply, Raised)
    assert reply.kinds[0] == "SyntaxError"
    assert reply.message == "invalid syntax"
    assert reply.frames == "attention.py, line 2\n    def f(:"


def test_an_observation_shows_changed_arguments_and_global_states(executor: Executor) -> None:
    reply = executor.carry_out(Observe(named("works_in_place"), (torch.ones(2), [])))
    assert isinstance(reply, Observed)
    assert reply.args[0].tolist() == [0.0, 0.0]
    assert reply.args[1] == [1]
    assert reply.changed == ("torch random state", "python random state")


def test_an_observation_of_a_pure_function_shows_no_change(executor: Executor) -> None:
    reply = executor.carry_out(Observe(named("softmax"), (torch.zeros(2),)))
    assert isinstance(reply, Observed)
    assert reply.value.tolist() == [0.5, 0.5]
    assert reply.changed == ()


def test_making_an_object_can_be_observed(executor: Executor) -> None:
    reply = executor.carry_out(Observe(named("Net"), (2,)))
    assert isinstance(reply, Observed)
    assert reply.value == HandleRef(1, "Net")
    assert reply.changed == ("torch random state",)


def test_gradients_flow_to_every_floating_point_argument(executor: Executor) -> None:
    x, w = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    request = Vjp(named("two"), (x, {"w": w, "n": 1}), {}, (torch.tensor([1.0, 10.0]), torch.tensor(100.0)))
    reply = executor.carry_out(request)
    assert isinstance(reply, Gradients)
    assert reply.args[0].tolist() == [103.0, 140.0]
    assert reply.args[1]["w"].tolist() == [101.0, 120.0]
    assert reply.args[1]["n"] is None
    assert reply.value[0].tolist() == [3.0, 8.0]


def test_gradients_flow_to_the_parameters_of_a_module(executor: Executor) -> None:
    handle = value(executor.carry_out(Call(named("Net"), (2,))))
    reply = executor.carry_out(Vjp(named("", handle.id), (torch.tensor([[1.0, 3.0]]),), {}, (torch.ones(1, 2),)))
    assert isinstance(reply, Gradients)
    assert reply.parameters["linear.weight"].tolist() == [[1.0, 3.0], [1.0, 3.0]]
    assert reply.args[0].tolist() == [[4.0, 4.0]]


def test_a_frozen_argument_gets_no_gradient_and_a_second_call_changes_no_gradient(executor: Executor) -> None:
    x, w = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    cotangents = (torch.tensor([1.0, 10.0]), torch.tensor(0.0))
    reply = executor.carry_out(Vjp(named("two"), (x, {"w": w}), {}, cotangents, (0,), (w, {"w": x})))
    assert isinstance(reply, Gradients)
    assert reply.args[0] is None
    assert reply.args[1]["w"].tolist() == [1.0, 20.0]
    assert not reply.cotangents_changed


@pytest.mark.parametrize("name", ["constant", "detached"])
def test_no_gradient_is_none(executor: Executor, name: str) -> None:
    reply = executor.carry_out(Vjp(named(name), (torch.ones(2),), {}, (torch.ones(2),)))
    assert isinstance(reply, Gradients)
    assert reply.args == (None,)


def test_an_output_without_cotangent_takes_no_part(executor: Executor) -> None:
    x, w = torch.tensor([1.0]), torch.tensor([3.0])
    reply = executor.carry_out(Vjp(named("two"), (x, {"w": w}), {}, (None, torch.tensor(1.0))))
    assert isinstance(reply, Gradients)
    assert reply.args[0].tolist() == [1.0]


@pytest.mark.parametrize(
    ("cotangents", "message"),
    [
        ((torch.ones(3),), "the result has shape (2,), expected is (3,)"),
        ((), "the result holds 1 floating-point tensors, 0 are expected"),
    ],
)
def test_a_result_that_does_not_fit_its_cotangents_is_told_in_a_sentence(
    executor: Executor, cotangents: Any, message: str
) -> None:
    reply = executor.carry_out(Vjp(named("softmax"), (torch.ones(2),), {}, cotangents))
    assert reply == Misfit(message)
