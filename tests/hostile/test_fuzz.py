"""Fuzz: frames of the wire and things handed in, damaged and made up. No crash, no hang, and no path that leads out."""

from __future__ import annotations

import os
import random
import tempfile
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.diagnosis.fingerprint import fingerprint
from autograder.diagnosis.hints import find_hint
from autograder.errors import Unreadable
from autograder.grading.calls import describe_value
from autograder.intake.submission import SourceTree
from autograder.sandbox.worker import bounded
from autograder.worker.protocol import wire
from autograder.worker.protocol.messages import (
    Call,
    Found,
    Gradients,
    HandleRef,
    Measured,
    Missing,
    Observed,
    Raised,
    Ready,
    Returned,
    Streamed,
    Target,
)
from autograder.worker.protocol.messages import Unreadable as Unread
from tests.hostile.soak import times
from tests.intake.handins import ATTEND, SOFTMAX, markdown, notebook, read, zipped

# 20,000 in all in `make soak`.
DAMAGED_FRAMES, MADE_UP_HEADERS, MADE_UP_VALUES = times(9000), times(4000), times(1500)
DAMAGED_ZIPS, MADE_UP_ZIPS, DAMAGED_SOURCES, DAMAGED_NOTEBOOKS = times(3000), times(700), times(1500), times(300)

SAMPLES = Path(__file__).parents[1]
REPLIES = (
    Returned([torch.arange(6.0).reshape(2, 3), {"a": (1, 2.5, None), 7: b"x" * 5000}, "é" * 3000, 10**40]),
    Returned([list(range(100)), np.arange(4, dtype="int16"), torch.float16, True, 1 + 2j, "\ud800"]),
    Raised(("ValueError", "Exception"), "no", "part.py, line 3, in f\n    x"),
    Observed(torch.ones(2), (torch.zeros(2), 1), {"mask": torch.ones(2, dtype=torch.bool)}, ("grad mode",)),
    Gradients(torch.ones(2), (None, torch.ones(3)), {}, {"weight": torch.ones(2, 2)}),
    Streamed(3, ["a", [1]], 7, True),
    Measured(1, 2, "part.py, line 3", "aten.mm", 3, 4, 5, 6, ("aten.mm",)),
    *(Found("class"), Missing("f", ("g",)), Unread("set", "[1]", "why"), Ready(), Returned(HandleRef(3, "Head"))),
)
INTERESTING = (
    b"\0",
    b"\xff",
    b"\xff" * 8,
    b"\x7f",
    b"\x80",
    b"\xc1",
    b"\xdd\xff\xff\xff\xff",
    b"\xdf\xff\xff\xff\xff",
    b"T",
)


def damaged(good: bytes, chance: random.Random, pieces: tuple[bytes, ...] = INTERESTING) -> bytes:
    """One to four damages: bytes changed, stretches replaced, doubled or cut out, the end cut off."""
    data = bytearray(good)
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.choice((0, 1, 1, 2, 8, 60)))
        kind = chance.randrange(5)
        if kind == 0 and start < len(data):
            data[start] ^= 1 << chance.randrange(8)
        elif kind == 1:
            data[start:end] = chance.choice(pieces)
        elif kind == 2:
            data[start:end] = data[start:end] * 2
        elif kind == 3:
            del data[start:end]
        else:
            data[start:end] = chance.randbytes(end - start)
    return bytes(data[: chance.randrange(len(data) + 1)] if chance.random() < 0.05 else data)


def survives(frame: bytes) -> bool:
    """Decode a reply, and do with its value what the grader does where it is wrong. Whether it was one."""
    try:
        wire.frame_size(frame[: wire.PREFIX]) if len(frame) >= wire.PREFIX else None
        reply = bounded(wire.decode_reply(bytearray(frame)))
    except wire.WireError:
        return False
    value = getattr(reply, "value", None)
    assert len(describe_value(value)) < 20_000
    fingerprint(value)
    find_hint(value, torch.ones(2, 3))
    return True


def test_damaged_replies_are_an_answer_or_one_error() -> None:
    chance = random.Random(1)
    frames = [b"".join(wire.encode(reply, 1)) for reply in REPLIES]
    assert all(survives(frame) for frame in frames)
    answers = sum(survives(damaged(chance.choice(frames), chance)) for _ in range(DAMAGED_FRAMES))
    assert 0 < answers < DAMAGED_FRAMES


def framed(header: Any) -> bytearray:
    """A frame with that header and nothing after it."""
    packed = msgspec.msgpack.encode(header)
    body = packed + bytes(-(wire.PREFIX + len(packed)) % 16)
    return bytearray(len(body).to_bytes(8, "little") + len(packed).to_bytes(8, "little") + bytes(8) + body)


@pytest.mark.parametrize("depth", [0, 3])
def test_a_hundred_keys_of_one_hash_are_a_dict_and_more_are_an_error(depth: int) -> None:
    """-1 and -2 have one hash, and so have tuples of them: each further key would cost as much as all before."""
    keys = [["t", [-1 - (n >> bit & 1) for bit in range(8)]] for n in range(256)]

    def reply(count: int) -> wire.Part:
        node: Any = ["d", keys[:count], [1] * count]
        for _ in range(depth):
            node = ["l", [node]]
        return framed(["Returned", node, False])

    assert wire.decode_reply(bytearray(reply(100)))
    with pytest.raises(wire.WireError, match="keys of one hash"):
        wire.decode_reply(bytearray(reply(256)))


@pytest.mark.parametrize(
    ("node", "says"),
    [
        (["m", "set", [["t", [-1 - (n >> bit & 1) for bit in range(8)]] for n in range(256)]], "items of one hash"),
        (["m", "set", [1, 1]], "the same item twice"),
        (["m", "frozenset", [["l", []]]], "no hash"),
        (["m", "slice", [1, 2, "x"]], "no integers"),
        (["m", "range", [1, 2]], "malformed"),
        (["m", "device", ["nowhere"]], "malformed"),
        (["m", "dataclass", ["x", ["l", []], ["l", []]]], "of kind 'dataclass'"),
        (["m", "named tuple", ["x", ["l", []], ["l", []]]], "of kind 'named tuple'"),
        (["m", "source", ["f", "raise"]], "of kind 'source'"),
    ],
)
def test_a_reply_makes_only_data(node: Any, says: str) -> None:
    with pytest.raises(wire.WireError, match=says):
        wire.decode_reply(framed(["Returned", node, False]))


def test_damaged_requests_are_a_request_or_one_error() -> None:
    chance = random.Random(2)
    good = b"".join(wire.encode(Call(Target("f", "part"), (torch.ones(3), "x"), {"mask": None}), 1))
    for _ in range(DAMAGED_FRAMES // 10):
        try:
            wire.decode_request(bytearray(damaged(good, chance)))
        except wire.WireError:
            continue


TAGS = st.sampled_from([*"icubUBqTADhltdxN", "Returned", "Raised", "Found", ""])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(),
    st.text(max_size=8),
    st.binary(max_size=8),
    st.sampled_from(["float32", "bool", "int64", "object", "f" * 500, 2**47, -1]),
)
NODES = st.recursive(
    st.one_of(
        SCALARS, st.builds(lambda tag, a, b: [tag, a, b], TAGS, SCALARS, st.lists(st.integers(-2, 2**48), max_size=5))
    ),
    lambda inner: st.builds(
        lambda tag, items: [tag, *items], TAGS, st.lists(st.one_of(inner, st.lists(inner, max_size=3)), max_size=3)
    ),
    max_leaves=10,
)


@settings(max_examples=MADE_UP_HEADERS, deadline=None, database=None)
@given(
    st.sampled_from(["Returned", "Observed", "Gradients", "Streamed", "Raised", "Measured", ""]),
    NODES,
    st.binary(max_size=64),
)
def test_made_up_headers_are_an_answer_or_one_error(name: str, node: Any, payload: bytes) -> None:
    frame = framed([name, node]) + payload + bytes(-len(payload) % 16)
    frame[:8] = (len(frame) - wire.PREFIX).to_bytes(8, "little")
    survives(bytes(frame))


KEYS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5), st.binary(max_size=5)
)
VALUES = st.recursive(
    st.one_of(
        KEYS, st.floats(), st.complex_numbers(), st.sampled_from([torch.zeros(0, 3), torch.ones(2, 3), np.ones(2)])
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.lists(inner, max_size=4).map(tuple), st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=MADE_UP_VALUES, deadline=None, database=None)
@given(VALUES)
def test_every_value_arrives_as_it_left(value: Any) -> None:
    frame = bytearray(b"".join(wire.encode(Returned(value), 1)))
    arrived = wire.decode_reply(frame)
    assert isinstance(arrived, Returned)
    assert b"".join(wire.encode(arrived, 1)) == bytes(frame)
    assert survives(bytes(frame))


# ------------------------------------------------------------------ what is handed in


def taken(name: str, data: bytes) -> SourceTree | None:
    """The tree, written out and looked at, or None where a sentence said why there is none."""
    with tempfile.TemporaryDirectory() as top:
        path = Path(top) / name
        path.write_bytes(data)
        try:
            tree = read(path)
        except Unreadable as error:
            assert path.name in str(error) and "limits of time and memory" not in str(error)
            return None
        tree.write(Path(top) / "out" / "tree")
        outside = {path, Path(top) / "out", Path(top) / "out" / "tree"}
        for found in Path(top).rglob("*"):
            assert found in outside or (Path(top) / "out" / "tree") in found.parents
            assert not found.is_symlink()
        return tree


NOTEBOOK = notebook(markdown("# Homework"), "import torch\nD = 3", SOFTMAX, ATTEND)
ZIP = zipped({"hw/attention.py": SOFTMAX, "hw/größe.json": "{}", "hw/deep/a/b.txt": "x" * 300, "hw/notes.pdf": "%PDF"})
PIECES = (
    *INTERESTING,
    b"PK\x01\x02",
    b"PK\x05\x06",
    b"../",
    b"/",
    b"null",
    b"[",
    b"{",
    b'"',
    b"-1",
    b"\xff\xff\xff\xff",
    b"0" * 30,
)


def fuzz(name: str, good: list[bytes], count: int, seed: int, keep: Callable[[bytes], bool] = lambda _: True) -> int:
    chance = random.Random(seed)
    return sum(taken(name, damaged(chance.choice(good), chance, PIECES)) is not None for _ in range(count))


def test_damaged_zips_are_a_tree_or_a_sentence() -> None:
    assert 0 < fuzz("hw.zip", [ZIP], DAMAGED_ZIPS, 3) < DAMAGED_ZIPS


def test_damaged_sources_are_a_tree_or_a_sentence() -> None:
    good = [path.read_bytes() for path in sorted((SAMPLES / "submissions").glob("*/attention.py"))[:8]]
    assert fuzz("attention.py", good, DAMAGED_SOURCES, 4)


def test_damaged_notebooks_are_a_tree_or_a_sentence() -> None:
    assert fuzz("hw.ipynb", [NOTEBOOK], DAMAGED_NOTEBOOKS, 5)


NAMES = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["../attention.py", "/attention.py", "C:\\attention.py", "a/../../attention.py", "attention.py", "con"]
    ),
    st.lists(st.sampled_from(["..", ".", "a", "attention.py", "", "\0", "\n", "x" * 300]), max_size=20).map("/".join),
)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@settings(max_examples=MADE_UP_ZIPS, deadline=None, database=None)
@given(st.lists(st.tuples(NAMES, st.integers(0, 2**32 - 1), st.binary(max_size=50)), max_size=5))
def test_made_up_zips_are_a_tree_or_a_sentence(members: list[tuple[str, int, bytes]]) -> None:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, attributes, content in [*members, ("attention.py", 0, SOFTMAX.encode())]:
            try:
                info = zipfile.ZipInfo(name)
                info.external_attr = attributes
                archive.writestr(info, content)
            except (UnicodeError, ValueError):
                continue
    taken("hw.zip", buffer.getvalue())


@pytest.mark.parametrize("name", ["attention.py", "hw.zip", "hw.ipynb"])
def test_special_files_are_a_sentence(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(Unreadable, match="regular file"):
        read(tmp_path / name)
