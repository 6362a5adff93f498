"""The wire format: every value survives the journey; whatever is no frame is one `WireError`."""

from __future__ import annotations

import math
import random
from collections import OrderedDict, namedtuple
from enum import IntEnum
from typing import Any, get_args

import msgspec
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.worker.protocol import values as nodes
from autograder.worker.protocol import wire
from autograder.worker.protocol.messages import (
    Advance,
    Call,
    Found,
    Gradients,
    HandleRef,
    Load,
    Loaded,
    Look,
    Missing,
    Observe,
    Observed,
    OpenStream,
    Raised,
    Ready,
    Release,
    Request,
    Returned,
    Streamed,
    Target,
    Unreadable,
    Vjp,
)
from autograder.worker.protocol.unpacking import Unpacker
from autograder.worker.protocol.values import TORCH_DTYPES
from autograder.worker.protocol.wire import Unencodable, WireError


def frame_of(message: Any) -> bytearray:
    return bytearray(b"".join(wire.encode(message)))


def through(value: Any) -> Any:
    """`value` as it arrives at the grader."""
    reply = wire.decode_reply(frame_of(Returned(value)))
    assert isinstance(reply, Returned)
    return reply.value


def framed(header: bytes, payload: bytes = b"") -> bytearray:
    """A frame of any header, as a student could write it."""
    body = header + bytes(-(wire.PREFIX + len(header)) % 16) + payload
    return bytearray(len(body).to_bytes(8, "little") + len(header).to_bytes(8, "little") + bytes(8) + body)


def forged(header: Any, payload: bytes = b"") -> bytearray:
    return framed(msgspec.msgpack.encode(header), payload)


class Colour(IntEnum):
    RED = 3


class Shouting(str):
    def __str__(self) -> str:
        return "not what it holds"


class Lying(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return True


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, False, 0, -1, 2**63 - 1, -(2**63), 2**64 - 1, 2**64, -(2**70), 10**300),
        *(0.0, 1.5, math.inf, -math.inf, 1e-320, 1 + 2j),
        *("", "é", "\ud800 alone", "a" * 10_000, "\ud800" * 10_000, "\0"),
        *(b"", b"\xff\0", b"ab" * 10_000),
        *([], (), {}, [1, [2, (3, {"a": [4]})]], list(range(200)), [2**70] * 100, [1.5] * 100),
        {1: "one", "1": 1, (1, "a"): 2, None: 3, 1.5: 4, b"k": 5},
        {"lt": 1, "": 2, "T": ["T", "float32", [2]]},
        ["l", []],
        torch.float32,
        HandleRef(3, "Attention"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_plain_data_arrives_equal_and_of_the_same_type(value: Any) -> None:
    arrived = through(value)
    assert arrived == value
    assert type(arrived) is type(value)


def test_a_negative_zero_and_a_nan_arrive_as_they_were() -> None:
    assert math.copysign(1.0, through(-0.0)) == -1.0
    assert math.isnan(through(math.nan))


@pytest.mark.parametrize("name", sorted(TORCH_DTYPES))
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3, 1)])
def test_a_tensor_of_every_dtype_and_shape_arrives_bit_for_bit(name: str, shape: tuple[int, ...]) -> None:
    raw = torch.arange(math.prod(shape) + 1, dtype=torch.float32)[1:].reshape(shape)
    tensor = raw.to(TORCH_DTYPES[name])
    arrived = through(tensor)
    assert arrived.dtype is tensor.dtype
    assert arrived.shape == tensor.shape
    assert arrived.reshape(-1).view(torch.uint8).tolist() == tensor.reshape(-1).view(torch.uint8).tolist()


def test_a_tensor_that_is_a_view_arrives_by_its_values() -> None:
    base = torch.arange(12.0).reshape(3, 4)
    for view in (base.T, base[:, ::2], base[1:, 1:], torch.ones(1).expand(5), base.to(torch.complex64).conj().T):
        assert torch.equal(through(view), view)


def test_one_number_with_a_stride_of_two_arrives() -> None:
    assert through(torch.arange(4.0).as_strided((1, 1), (2, 2))).tolist() == [[0.0]]


def test_a_tensor_that_needs_gradients_arrives_without_history() -> None:
    tensor = torch.ones(2, requires_grad=True) * 2
    assert not through(tensor).requires_grad


def test_an_arrived_tensor_shares_no_memory_with_the_frame() -> None:
    frame = frame_of(Returned(torch.zeros(4)))
    reply = wire.decode_reply(frame)
    frame[-16:] = b"\xff" * 16
    assert isinstance(reply, Returned) and reply.value.tolist() == [0.0] * 4


@pytest.mark.parametrize("name", ["bool", "int8", "uint16", "int64", "float16", "float64", "complex64"])
def test_a_numpy_array_arrives_as_an_array(name: str) -> None:
    array = np.arange(6).reshape(2, 3).astype(name)
    arrived = through(array.T)
    assert isinstance(arrived, np.ndarray)
    assert arrived.dtype == array.dtype
    assert arrived.tolist() == array.T.tolist()


def test_a_big_endian_array_arrives_with_its_values() -> None:
    assert through(np.array([1.0, 2.0], dtype=">f8")).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.float32(1.5), 1.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.float64(2.5), 2.5),
        (np.str_("a"), "a"),
        (torch.Size([2, 3]), (2, 3)),
        (Point(1, 2), (1, 2)),
        (OrderedDict(a=1), {"a": 1}),
        (Colour.RED, 3),
        (Shouting("what it holds"), "what it holds"),
        (bytearray(b"ab"), b"ab"),
        ([Colour.RED] * 100, [3] * 100),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_subclass_arrives_as_the_plain_value(value: Any, plain: Any) -> None:
    arrived = through(value)
    assert arrived == plain
    assert type(arrived) is type(plain)


def test_a_tensor_subclass_that_lies_arrives_as_a_plain_tensor() -> None:
    arrived = through(torch.tensor([1.0, 2.0]).as_subclass(Lying))
    assert type(arrived) is torch.Tensor
    assert arrived.tolist() == [1.0, 2.0]
    assert type(through(torch.nn.Parameter(torch.ones(2)))) is torch.Tensor


@pytest.mark.parametrize(
    ("value", "type_name", "where"),
    [
        (object(), "object", ""),
        ([1, (2, object())], "object", "[1][1]"),
        ({"weights": [print]}, "builtin_function_or_method", "['weights'][0]"),
        (torch.nn.Linear(1, 1), "Linear", ""),
        (np.array([object()]), "ndarray of dtype object", ""),
        (np.datetime64("2020-01-01"), "datetime64", ""),
    ],
    ids=["object", "nested", "builtin", "module", "array", "datetime"],
)
def test_what_is_no_data_is_named_with_its_place(value: Any, type_name: str, where: str) -> None:
    with pytest.raises(Unencodable) as caught:
        wire.encode(Returned(value))
    assert caught.value.type_name == type_name
    assert caught.value.where == where


@pytest.mark.parametrize(
    "value",
    [torch.eye(3).to_sparse(), torch.empty(3, device="meta")],
    ids=["sparse", "meta"],
)
def test_a_tensor_that_is_not_dense_is_refused(value: torch.Tensor) -> None:
    with pytest.raises(Unencodable, match="Tensor"):
        wire.encode(Returned(value))


def test_a_tensor_on_another_device_is_refused_with_the_device() -> None:
    with pytest.raises(Unencodable) as caught:
        wire.encode(Returned([torch.ones(2), torch.empty(3, device="meta")]))
    assert (caught.value.where, caught.value.reason) == (
        "[1]",
        "it is on the device meta, and the arguments were on the CPU",
    )


def test_a_value_of_more_than_64_megabytes_is_refused_with_its_size() -> None:
    for value in (torch.ones(1).expand(10**12), [torch.ones(1).expand(2_000_000)] * 20, "a" * (65 << 20)):
        with pytest.raises(Unencodable) as caught:
            wire.encode(Returned(value))
        assert "at most 64 MB" in caught.value.reason


def test_a_range_is_no_longer_than_what_a_message_may_hold() -> None:
    """Who asks for all of it, by sorted() say, would hold it: sixty million numbers are 2.5 GB."""
    with pytest.raises(Unencodable, match="range"):
        wire.encode(Returned(range(60_000_000)))
    with pytest.raises(WireError, match="a range of more than 1,000,000 numbers"):
        Unpacker(memoryview(b"")).unpack(nodes.Made("range", [0, 60_000_000, 1]))


def test_a_value_that_contains_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(Unencodable) as caught:
        wire.encode(Returned(loop))
    assert caught.value.reason == "it is nested more than 32 deep"


def test_a_value_that_repeats_itself_without_end_is_refused() -> None:
    value: list[Any] = []
    for _ in range(30):
        value = [value, value]
    with pytest.raises(Unencodable, match="more than"):
        wire.encode(Returned(value))


TENSOR = torch.arange(3.0)
MESSAGES = [
    Load("attention", ("library attention",)),
    Look(Target("softmax", "attention")),
    Call(Target("softmax", "attention"), (1, "a"), {"dim": -1}, keep=True),
    Observe(Target("forward", "attention", 3), (None,), {}),
    Vjp(Target("", handle=2), ((1.0, [2.0]),), {"mask": None}, (None, 1.0)),
    OpenStream(Target("encode", handle=2), (1,), {}, ("a", b"b"), 5, 1 << 20),
    Advance(Target("encode", handle=2), 3, 10),
    Release(7),
    Ready(),
    Loaded({"softmax": "function", "Head": "class"}),
    Returned([1, (2, 3)]),
    Found("class"),
    Missing("softmx", ("softmax",)),
    Raised(("ValueError", "Exception"), "no", "attention.py, line 3"),
    Unreadable("set", "[1]", "why"),
    Observed(1, (2,), {"x": 3}, ("grad mode",)),
    Gradients(1.0, (None, 2.0), {}, {"weight": 3.0}),
    Streamed(3, [1, 2], 1, True),
]


@pytest.mark.parametrize(
    "tensor",
    [
        torch.arange(6.0).reshape(2, 3).T,
        torch.arange(12.0).reshape(2, 6)[:, 1::2],
        torch.arange(3.0).expand(2, 3),
        torch.arange(8.0).reshape(2, 2, 2)[:, 1],
    ],
    ids=["transposed", "sliced", "expanded", "indexed"],
)
def test_a_request_keeps_the_strides_of_a_tensor_and_a_reply_does_not(tensor: torch.Tensor) -> None:
    request = wire.decode_request(bytearray().join(wire.encode(Call(Target("f"), (tensor,)))))
    assert isinstance(request, Call)
    [arrived] = request.args
    assert arrived.equal(tensor)
    assert arrived.stride() == tensor.stride()
    reply = wire.decode_reply(bytearray().join(wire.encode(Returned(tensor))))
    assert isinstance(reply, Returned)
    assert reply.value.equal(tensor)
    assert reply.value.is_contiguous()


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_every_message_arrives_as_it_was_and_only_in_its_direction(message: Any) -> None:
    frame = frame_of(message)
    right, wrong = (
        (wire.decode_request, wire.decode_reply)
        if isinstance(message, get_args(Request))
        else (wire.decode_reply, wire.decode_request)
    )
    assert right(frame) == message
    with pytest.raises(WireError):
        wrong(frame)


def test_a_ticket_arrives_with_its_frame() -> None:
    assert wire.ticket_of(bytearray(b"".join(wire.encode(Ready(), 2**64 - 1)))) == 2**64 - 1


HUGE = 1 << 62


@pytest.mark.parametrize(
    "frame",
    [
        bytearray(),
        bytearray(23),
        bytearray(24),
        bytearray(b"\xff" * 24),
        bytearray(frame_of(Ready())[:-1]),
        frame_of(Ready()) + b"\0",
        forged(["Returned", ["T", "float32", [HUGE]]]),
        forged(["Returned", ["T", "float32", [1 << 40], [0]]], bytes(16)),
        forged(["Returned", ["T", "float32", [0, HUGE, HUGE]]]),
        forged(["Returned", ["T", "float32", [-1]]], bytes(16)),
        forged(["Returned", ["T", "float32", [1] * 100]], bytes(16)),
        forged(["Returned", ["T", "object", [1]]], bytes(16)),
        forged(["Returned", ["T", "bool", [2]]], b"\2\1" + bytes(14)),
        forged(["Returned", ["A", "bool", [2]]], b"\2\1" + bytes(14)),
        forged(["Returned", ["A", "O", [1]]], bytes(16)),
        forged(["Returned", ["i", "x"]]),
        forged(["Returned", ["i", ""]]),
        forged(["Returned", ["lt", []]]),
        forged(["Returned", ["", []]]),
        forged(["Returned", ["l", [], "more"]]),
        forged(["Returned", ["u", b"\xff\xff"]]),
        forged(["Returned", ["q", HUGE]]),
        forged(["Returned", ["q", -1]]),
        forged(["Returned", ["U", 17]], bytes(16)),
        forged(["Returned", ["D", "__class__"]]),
        forged(["Returned", ["d", [["l", []]], [1]]]),
        forged(["Returned", ["d", [1, 1], [1, 2]]]),
        forged(["Returned", ["d", [1], []]]),
        forged(["Returned", 1], bytes(16)),
        forged(["Returned"]),
        forged(["Exec", "print"]),
        forged({"Returned": 1}),
        forged(b"\x80\x04."),
    ],
    ids=lambda frame: repr(bytes(frame[24:60])),
)
def test_a_forged_frame_is_one_wire_error(frame: bytearray) -> None:
    with pytest.raises(WireError):
        wire.decode_reply(frame)


def test_a_forged_depth_is_a_wire_error() -> None:
    for depth in (33, 100_000):
        header = b"\x92\xa8Returned" + b"\x92\xa1l\x91" * depth + b"\xc0"
        frame = framed(header)
        with pytest.raises(WireError):
            wire.decode_reply(frame)


def test_sizes_over_the_limits_are_refused_from_the_prefix_alone() -> None:
    for size, header in ((1 << 62, 16), ((64 << 20) + 1, 16), (1 << 22, (1 << 20) + 1), (16, 17)):
        with pytest.raises(WireError, match="a frame of"):
            wire.frame_size(size.to_bytes(8, "little") + header.to_bytes(8, "little") + bytes(8))


leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.binary(max_size=20)
texts = st.text(st.characters(exclude_categories=()), max_size=20)
values = st.recursive(
    leaves | texts,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(leaves | texts | st.tuples(leaves), inner, max_size=4)
    ),
    max_leaves=20,
)


@settings(max_examples=200, deadline=None, database=None)
@given(values)
def test_any_plain_value_survives(value: Any) -> None:
    arrived = through(value)
    assert arrived == value
    assert repr(arrived) == repr(value)


@settings(max_examples=200, deadline=None, database=None)
@given(st.integers(0, 2**32))
def test_a_frame_with_changed_bytes_decodes_or_is_a_wire_error(seed: int) -> None:
    draw = random.Random(seed)
    frame = frame_of(Returned({"a": [torch.ones(2, 3), (1, "x" * 5000, 2**70)], 3: np.ones(2), "b": list(range(70))}))
    for _ in range(draw.randint(1, 6)):
        where = draw.randrange(len(frame)) if draw.random() < 0.3 else draw.randrange(24, 200)
        frame[where] = draw.randrange(256)
    try:
        wire.decode_reply(frame)
    except WireError:
        return


@settings(max_examples=200, deadline=None, database=None)
@given(st.binary(max_size=200))
def test_arbitrary_headers_decode_or_are_a_wire_error(header: bytes) -> None:
    frame = framed(header)
    for decode in (wire.decode_reply, wire.decode_request):
        try:
            decode(frame)
        except WireError:
            continue
