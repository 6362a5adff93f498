"""Unpacking: from nodes and the bytes after the header back to values.

It believes nothing: every size is checked against what is there before anything is allocated, dtypes come from a fixed
table, depth and dimensions are bounded. Exceptions other than `WireError` may escape (an integer that is no integer);
`wire` turns them into one.
"""

from __future__ import annotations

import collections
import dataclasses
import math
import random
import re
from array import array
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import torch

from . import values as nodes
from .messages import CallbackRef, HandleRef, Known, Source, Target, Value
from .values import (
    ALIGNMENT,
    HASHABLE,
    MAX_DEPTH,
    MAX_DIMENSIONS,
    MAX_NODES,
    NUMPY_NAMES,
    TORCH_DTYPES,
    Node,
    WireError,
)

_MOST_COLLISIONS = 100
_HEXADECIMAL = re.compile(r"-?[0-9a-f]+\Z")


class Unpacker:
    """Reads values whose buffers stand in `payload`, in the order of the tree."""

    def __init__(self, payload: memoryview, of_request: bool = False) -> None:
        self._payload = payload
        self._of_request = of_request
        self._offset = 0

    def unpack(self, node: Node, depth: int = 0) -> Value:
        """The value of `node`. Raises `WireError`, or whatever malformed content leads to."""
        if depth > MAX_DEPTH:
            raise WireError(f"a value nested more than {MAX_DEPTH} deep")
        unpacking = _UNPACKING.get(cast("type[object]", type(node)))
        return node if unpacking is None else unpacking(self, node, depth)

    def finish(self) -> None:
        """Raises `WireError` when bytes are left that belong to no value."""
        if self._offset != len(self._payload):
            raise WireError(f"{len(self._payload) - self._offset} bytes that belong to no value")

    def take(self, size: int) -> memoryview:
        """The next `size` bytes."""
        end = self._offset + size + -size % ALIGNMENT
        if size < 0 or end > len(self._payload):
            raise WireError(f"a buffer of {size} bytes where {len(self._payload) - self._offset} are left")
        taken = self._payload[self._offset : self._offset + size]
        self._offset = end
        return taken

    def unpack_big_int(self, node: nodes.BigInt, depth: int) -> int:
        if not _HEXADECIMAL.match(node.digits):
            raise WireError("an integer that is none")
        return int(node.digits, 16)

    def unpack_complex(self, node: nodes.Complex, depth: int) -> complex:
        return complex(node.real, node.imag)

    def unpack_text(self, node: nodes.Text, depth: int) -> str:
        return node.data.decode("utf-8", "surrogatepass")

    def unpack_bytes(self, node: nodes.Bytes, depth: int) -> bytes:
        return node.data

    def unpack_long_text(self, node: nodes.LongText, depth: int) -> str:
        return bytes(self.take(node.size)).decode("utf-8", "surrogatepass")

    def unpack_long_bytes(self, node: nodes.LongBytes, depth: int) -> bytes:
        return bytes(self.take(node.size))

    def unpack_integers(self, node: nodes.Integers, depth: int) -> list[int]:
        numbers = array("q")
        numbers.frombytes(self.take(8 * node.count))
        return numbers.tolist()

    def unpack_dtype(self, node: nodes.Dtype, depth: int) -> torch.dtype:
        return _dtype(node.name)

    def unpack_handle(self, node: nodes.Handle, depth: int) -> HandleRef:
        return HandleRef(node.id, node.type_name)

    def unpack_made(self, node: nodes.Made, depth: int) -> Value:
        making = _DATA.get(node.kind) or (_OF_REQUESTS.get(node.kind) if self._of_request else None)
        if making is None:
            raise WireError(f"a value of kind {node.kind[:50]!r}")
        if node.kind in ("set", "frozenset") and not all(isinstance(item, HASHABLE) for item in node.items):
            raise WireError("a set of what has no hash")
        items = [self.unpack(item, depth + 1) for item in node.items]
        made = making(items)
        if node.kind in ("set", "frozenset") and len(made) != len(items):
            raise WireError("a set with the same item twice")
        return made

    def unpack_list(self, node: nodes.List, depth: int) -> list[Value]:
        return [self.unpack(item, depth + 1) for item in node.items]

    def unpack_tuple(self, node: nodes.Tuple, depth: int) -> tuple[Value, ...]:
        return tuple([self.unpack(item, depth + 1) for item in node.items])

    def unpack_dict(self, node: nodes.Dict, depth: int) -> dict[Value, Value]:
        if len(node.keys) != len(node.values):
            raise WireError(f"a dict of {len(node.keys)} keys and {len(node.values)} values")
        unpacked: dict[Value, Value] = {}
        hashes: set[int] = set()
        for key_node, value_node in zip(node.keys, node.values, strict=True):
            if not isinstance(key_node, HASHABLE):
                raise WireError(f"a dict key of type {type(key_node).__name__}")
            key = self.unpack(key_node, depth + 1)
            hashes.add(hash(key))
            if len(unpacked) - len(hashes) >= _MOST_COLLISIONS:  # each further one would cost as much as all before
                raise WireError(f"a dict with more than {_MOST_COLLISIONS} keys of one hash")
            unpacked[key] = self.unpack(value_node, depth + 1)
        if len(unpacked) != len(node.keys):
            raise WireError("a dict with the same key twice")
        return unpacked

    def unpack_tensor(self, node: nodes.TensorNode, depth: int) -> torch.Tensor:
        dtype = _dtype(node.dtype)
        count = _count(node.shape)
        if not count:
            return torch.empty(node.shape, dtype=dtype)
        if node.strides:
            if not self._of_request or len(node.strides) != len(node.shape) or min(node.strides) < 0:
                raise WireError("strides where none belong")
            count = 1 + sum((length - 1) * step for length, step in zip(node.shape, node.strides, strict=True))
        data = self.take(count * dtype.itemsize)
        if dtype is torch.bool:
            _check_booleans(data)
        flat = torch.frombuffer(data, dtype=dtype).clone()
        return flat.as_strided(node.shape, node.strides) if node.strides else flat.reshape(node.shape)

    def unpack_array(self, node: nodes.ArrayNode, depth: int) -> np.ndarray[Any, Any]:
        if node.dtype not in NUMPY_NAMES:
            raise WireError(f"an array of dtype {node.dtype[:50]!r}")
        dtype = np.dtype(node.dtype)
        data = self.take(_count(node.shape) * dtype.itemsize)
        if dtype == np.bool_:
            _check_booleans(data)
        return np.array(np.frombuffer(data, dtype=dtype)).reshape(node.shape)


def _dtype(name: str) -> torch.dtype:
    if name not in TORCH_DTYPES:
        raise WireError(f"the dtype {name[:50]!r}")
    return TORCH_DTYPES[name]


def _count(shape: list[int]) -> int:
    if len(shape) > MAX_DIMENSIONS or any(size < 0 or size >= 1 << 48 for size in shape):
        raise WireError(f"a shape of {len(shape)} dimensions, {str(shape[:8])[:100]}")
    return math.prod(shape)


def _check_booleans(data: memoryview) -> None:
    if bytes(data).translate(None, b"\0\1"):
        raise WireError("a boolean other than 0 and 1")


def _set(items: list[Value]) -> set[Value]:
    if len(items) - len({hash(item) for item in items}) >= _MOST_COLLISIONS:  # each further one costs as much as all
        raise WireError(f"a set with more than {_MOST_COLLISIONS} items of one hash")
    return set(items)


def _range(items: list[Value]) -> range:
    start, stop, step = items
    made = range(start, stop, step)
    if len(made) > MAX_NODES:  # whoever asks for all of it, by sorted() say, would hold it
        raise WireError(f"a range of more than {MAX_NODES:,} numbers")
    return made


def _slice(items: list[Value]) -> slice:
    start, stop, step = items
    if not all(item is None or type(item) is int for item in items):
        raise WireError("a slice of what are no integers")
    return slice(start, stop, step)


def _torch_generator(items: list[Value]) -> torch.Generator:
    made = torch.Generator(items[0])
    made.set_state(items[1])
    return made


def _python_generator(items: list[Value]) -> random.Random:
    made = random.Random()
    made.setstate(items[0])
    return made


def _numpy_generator(items: list[Value]) -> np.random.Generator:
    made = np.random.Generator(getattr(np.random, items[0]["bit_generator"])())
    made.bit_generator.state = items[0]
    return made


def _named_tuple(items: list[Value]) -> Value:
    name, fields, values = items
    made: Any = collections.namedtuple(name, fields)  # pyright: ignore[reportUntypedNamedTuple]
    return made(*values)


def _dataclass(items: list[Value]) -> Value:
    name, fields, values = items
    return dataclasses.make_dataclass(name, fields)(*values)


_DATA: dict[str, Callable[[list[Value]], Value]] = {
    "set": _set,
    "frozenset": lambda items: frozenset(_set(items)),
    "range": _range,
    "slice": _slice,
    "device": lambda items: torch.device(str.__str__(items[0])),
}
"""What both sides make. Nothing in it depends on a name that the other side chose, but for that of a device."""

_OF_REQUESTS: dict[str, Callable[[list[Value]], Value]] = {
    "target": lambda items: Target(*items),
    "known": lambda items: Known(*items),
    "source": lambda items: Source(*items),
    "callback": lambda items: CallbackRef(*items),
    "torch generator": _torch_generator,
    "python generator": _python_generator,
    "numpy generator": _numpy_generator,
    "named tuple": _named_tuple,
    "dataclass": _dataclass,
}

_UNPACKING: dict[type[object], Callable[[Unpacker, Any, int], Value]] = {
    nodes.BigInt: Unpacker.unpack_big_int,
    nodes.Complex: Unpacker.unpack_complex,
    nodes.Text: Unpacker.unpack_text,
    nodes.Bytes: Unpacker.unpack_bytes,
    nodes.LongText: Unpacker.unpack_long_text,
    nodes.LongBytes: Unpacker.unpack_long_bytes,
    nodes.Integers: Unpacker.unpack_integers,
    nodes.TensorNode: Unpacker.unpack_tensor,
    nodes.ArrayNode: Unpacker.unpack_array,
    nodes.Dtype: Unpacker.unpack_dtype,
    nodes.Handle: Unpacker.unpack_handle,
    nodes.Made: Unpacker.unpack_made,
    nodes.List: Unpacker.unpack_list,
    nodes.Tuple: Unpacker.unpack_tuple,
    nodes.Dict: Unpacker.unpack_dict,
}
