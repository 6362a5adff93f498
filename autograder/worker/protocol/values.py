"""Values as a tree of typed nodes and a row of raw buffers: what `wire` puts into a frame.

Nodes, limits, the table of dtypes, and the two errors. `packing` makes the tree, `unpacking` reads it back. It knows no
messages and reads no file descriptor. Pickle has no place here.
"""

from __future__ import annotations

from typing import Union

import msgspec
import torch

MAX_FRAME = 64 << 20
MAX_DEPTH = 32
MAX_NODES = 1_000_000
ALIGNMENT = 16
INLINE = 4096  # longer strings and bytes travel as buffers, so that the header stays short
LONG_LIST = 64  # from this length on, a list of plain integers travels as one buffer
MAX_DIMENSIONS = 64

TORCH_DTYPES: dict[str, torch.dtype] = {
    name: getattr(torch, name)
    for name in (
        *("float16", "bfloat16", "float32", "float64", "complex64", "complex128", "bool"),
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    )
}
TORCH_NAMES = {dtype: name for name, dtype in TORCH_DTYPES.items()}
NUMPY_NAMES = frozenset(TORCH_DTYPES) - {"bfloat16"}


class WireError(Exception):
    """Bytes that are no message of ours. Whatever is wrong with them, this is what is raised."""


class Unencodable(Exception):
    """A value of no kind that can be passed on.

    Args:
        type_name: the name of its type.
        where: the path to it inside the whole value, such as `[1]['weight']`; empty for the value itself.
        reason: said where the type alone does not explain it (too large, nested too deeply).
    """

    def __init__(self, type_name: str, where: str = "", reason: str = "") -> None:
        super().__init__(type_name, where, reason)
        self.type_name, self.where, self.reason = type_name, where, reason

    def inside(self, step: str) -> Unencodable:
        """The same, seen from the container that holds it under `step`."""
        return Unencodable(self.type_name, (step + self.where)[:200], self.reason)


class _Node(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    pass


class BigInt(_Node, tag="i", frozen=True):
    digits: str


class Complex(_Node, tag="c", frozen=True):
    real: float
    imag: float


class Text(_Node, tag="u", frozen=True):
    """A string that is no valid UTF-8 (lone surrogates)."""

    data: bytes


class Bytes(_Node, tag="b", frozen=True):
    data: bytes


class LongText(_Node, tag="U", frozen=True):
    size: int


class LongBytes(_Node, tag="B", frozen=True):
    size: int


class Integers(_Node, tag="q", frozen=True):
    count: int


class TensorNode(_Node, tag="T", frozen=True):
    """A tensor. `strides` stand only where it is not contiguous: then its buffer is its storage, gaps included."""

    dtype: str
    shape: list[int]
    strides: list[int] = []


class ArrayNode(_Node, tag="A", frozen=True):
    dtype: str
    shape: list[int]


class Dtype(_Node, tag="D", frozen=True):
    name: str


class Handle(_Node, tag="h", frozen=True):
    id: int
    type_name: str


class Made(_Node, tag="m", frozen=True):
    """A value that `kind` makes of `items`, see `packing` and `unpacking`."""

    kind: str
    items: list[Node]


class List(_Node, tag="l", frozen=True):
    items: list[Node]


class Tuple(_Node, tag="t", frozen=True):
    items: list[Node]


class Dict(_Node, tag="d", frozen=True):
    keys: list[Node]
    values: list[Node]


Node = Union[
    None, bool, int, float, str, BigInt, Complex, Text, Bytes,
    LongText, LongBytes, Integers, TensorNode, ArrayNode, Dtype, Handle, Made, List, Tuple,
    Dict,
]  # fmt: skip

HASHABLE = (type(None), bool, int, float, str, BigInt, Complex, Text, Bytes, LongText, LongBytes, Tuple)
"""Nodes of what may be the key of a dict."""
