"""Packing: from whatever the grader passes or a student returned to nodes and buffers.

What comes out is plain data: a tensor subclass becomes a tensor, a `torch.Size` a tuple, an `IntEnum` an integer. No
method of the value's own type is called, so that a lying subclass ends here. It copies no tensor that is contiguous
already.
"""

from __future__ import annotations

import contextlib
import dataclasses
import random
from array import array
from collections.abc import Callable, Iterable
from typing import Any, cast

import numpy as np
import torch

from . import values as nodes
from .messages import CallbackRef, HandleRef, Known, Source, Target, Value
from .values import (
    ALIGNMENT,
    HASHABLE,
    INLINE,
    LONG_LIST,
    MAX_DEPTH,
    MAX_FRAME,
    MAX_NODES,
    NUMPY_NAMES,
    TORCH_NAMES,
    Node,
    Unencodable,
)


class Packer:
    """Packs values; the buffers that belong to them gather in `buffers`, in the order of the tree.

    With `of_request` more kinds of values are packed, and a tensor that is transposed, sliced or expanded arrives so;
    else it arrives contiguous.
    """

    def __init__(self, of_request: bool = False) -> None:
        self._of_request = of_request
        self.buffers: list[bytes | memoryview] = []
        self.size = 0
        self._nodes = 0

    def pack(self, value: Value, depth: int = 0) -> Node:
        """The node for `value`. Raises `Unencodable`."""
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise Unencodable(_name(value), reason=f"it has more than {MAX_NODES:,} elements")
        if depth > MAX_DEPTH:
            raise Unencodable(_name(value), reason=f"it is nested more than {MAX_DEPTH} deep")
        kind = cast("type[object]", type(value))
        exact = _EXACT.get(kind)
        if exact is not None:
            return exact(self, value, depth)
        for base, packing in _BY_BASE:
            if issubclass(kind, base):
                return packing(self, value, depth)
        if self._of_request:
            return self._pack_of_request(value, depth)
        raise Unencodable(_name(value))

    def _pack_of_request(self, value: Any, depth: int) -> Node:
        kind = _MESSAGES_WITHIN.get(cast("type[object]", type(value)))
        if kind is not None:
            return self._made(kind, [getattr(value, field.name) for field in dataclasses.fields(value)], depth)
        if isinstance(value, torch.Generator):
            return self._made("torch generator", [str(value.device), value.get_state()], depth)
        if isinstance(value, random.Random):
            return self._made("python generator", [value.getstate()], depth)
        if isinstance(value, np.random.Generator):
            return self._made("numpy generator", [value.bit_generator.state], depth)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
            return self._made("dataclass", [type(value).__name__, list(fields), list(fields.values())], depth)
        raise Unencodable(_name(value))

    def _made(self, kind: str, items: Iterable[Value], depth: int) -> Node:
        return nodes.Made(kind, self.pack_each(items, depth))

    def pack_set(self, value: set[Value] | frozenset[Value], depth: int) -> Node:
        of: Any = frozenset if isinstance(value, frozenset) else set
        items = self.pack_each([*of.__iter__(value)], depth)
        if not all(isinstance(item, HASHABLE) for item in items):
            raise Unencodable(_name(value), reason="its items are no numbers or texts")
        return nodes.Made(of.__name__, items)

    def pack_range(self, value: range | slice, depth: int) -> Node:
        if isinstance(value, range) and value[MAX_NODES:]:
            raise Unencodable(_name(value), reason=f"it has more than {MAX_NODES:,} elements")
        return self._made(type(value).__name__, [value.start, value.stop, value.step], depth)

    def pack_device(self, value: torch.device, depth: int) -> Node:
        return self._made("device", [str(value)], depth)

    def pack_unchanged(self, value: None | bool | float, depth: int) -> Node:
        return value

    def pack_int(self, value: int, depth: int) -> Node:
        value = int.__index__(value)
        return value if -(1 << 63) <= value < 1 << 64 else nodes.BigInt(format(value, "x"))

    def pack_float(self, value: float, depth: int) -> Node:
        return float.__float__(value)

    def pack_complex(self, value: complex, depth: int) -> Node:
        plain = complex(complex.__add__(value, 0j)) if type(value) is not complex else value
        return nodes.Complex(plain.real, plain.imag)

    def pack_text(self, value: str, depth: int) -> Node:
        value = str.__str__(value)
        if len(value) > INLINE:
            data = value.encode("utf-8", "surrogatepass")
            self._add(data, len(data), "str")
            return nodes.LongText(len(data))
        try:
            value.encode()
        except UnicodeEncodeError:
            return nodes.Text(value.encode("utf-8", "surrogatepass"))
        return value

    def pack_bytes(self, value: bytes, depth: int) -> Node:
        data = bytes(memoryview(value))
        if len(data) <= INLINE:
            return nodes.Bytes(data)
        self._add(data, len(data), "bytes")
        return nodes.LongBytes(len(data))

    def pack_handle(self, value: HandleRef, depth: int) -> Node:
        return nodes.Handle(value.id, value.type_name[:200])

    def pack_dtype(self, value: torch.dtype, depth: int) -> Node:
        if value not in TORCH_NAMES:
            raise Unencodable(str(value))
        return nodes.Dtype(TORCH_NAMES[value])

    def pack_list(self, value: list[Value], depth: int) -> Node:
        items = cast("list[Value]", [*list.__iter__(value)])
        if len(items) >= LONG_LIST and set(map(type, items)) == {int}:
            try:
                data = array("q", cast("list[int]", items)).tobytes()
            except OverflowError:
                return nodes.List(self._items(items, depth))
            self._add(data, len(data), "list")
            return nodes.Integers(len(items))
        return nodes.List(self._items(items, depth))

    def pack_tuple(self, value: tuple[Value, ...], depth: int) -> Node:
        if self._of_request and (names := getattr(type(value), "_fields", None)):
            return self._made("named tuple", [type(value).__name__, list(names), list(value)], depth)
        return nodes.Tuple(self._items(cast("tuple[Value, ...]", tuple.__iter__(value)), depth))

    def pack_each(self, items: Iterable[Value], depth: int = -1) -> list[Node]:
        """The nodes of `items`, which a value at `depth` holds. Raises `Unencodable`, which says which of them."""
        return self._items(items, depth)

    def _items(self, items: Iterable[Value], depth: int) -> list[Node]:
        packed: list[Node] = []
        try:
            for item in items:
                packed.append(self.pack(item, depth + 1))
        except Unencodable as error:
            raise error.inside(f"[{len(packed)}]") from None
        return packed

    def pack_dict(self, value: dict[Value, Value], depth: int) -> Node:
        keys: list[Node] = []
        values: list[Node] = []
        for key, item in cast("list[tuple[Value, Value]]", [*dict.items(value)]):
            try:
                node = self.pack(key, depth + 1)
                if not isinstance(node, HASHABLE):
                    raise Unencodable(_name(key), reason="it is the key of a dict")
                keys.append(node)
                values.append(self.pack(item, depth + 1))
            except Unencodable as error:
                raise error.inside(f"[{_shown(key)}]") from None
        return nodes.Dict(keys, values)

    def pack_number(self, value: np.generic, depth: int) -> Node:
        plain = value.item()
        if type(plain) not in (bool, int, float, complex, str, bytes):
            raise Unencodable(_name(value))
        return self.pack(plain, depth)

    def pack_array(self, value: np.ndarray[Any, Any], depth: int) -> Node:
        plain: np.ndarray[Any, Any] = np.ndarray.view(value, np.ndarray)
        name = str(plain.dtype.newbyteorder("=")) if plain.dtype.kind in "biufc" else ""
        if name not in NUMPY_NAMES:
            raise Unencodable(f"{_name(value)} of dtype {plain.dtype}")
        self._room(plain.nbytes, _name(value))
        data = np.ascontiguousarray(plain, dtype=name).reshape(-1)
        self._add(data.view(np.uint8).data if data.size else b"", data.nbytes, _name(value))
        return nodes.ArrayNode(name, list(plain.shape))

    def pack_tensor(self, value: torch.Tensor, depth: int) -> Node:
        with _PLAIN():  # no __torch_function__ of a subclass, no mode
            plain = torch.Tensor.detach(value)
            if type(plain) is not torch.Tensor:
                plain = torch.Tensor.as_subclass(plain, torch.Tensor)
            if plain.layout is not torch.strided or plain.is_quantized or plain.is_nested:
                raise Unencodable(f"{_name(value)} ({plain.layout}, {plain.dtype})", reason="it is no dense tensor")
            if plain.device.type != "cpu":
                reason = f"it is on the device {plain.device}, and the arguments were on the CPU"
                raise Unencodable(f"{_name(value)} on {plain.device}", reason=reason)
            if plain.dtype not in TORCH_NAMES:
                raise Unencodable(f"{_name(value)} of {plain.dtype}")
            strides: list[int] = []
            shape = list(plain.shape)
            if self._of_request and plain.numel() and not plain.is_contiguous():
                strides = list(plain.stride())
                span = 1 + sum((length - 1) * step for length, step in zip(shape, strides, strict=True))
                plain = plain.as_strided((span,), (1,))
            size = plain.numel() * plain.element_size()
            self._room(size, _name(value))
            node = nodes.TensorNode(TORCH_NAMES[plain.dtype], shape, strides)
            if size:
                flat = plain.resolve_conj().resolve_neg().contiguous().as_strided((plain.numel(),), (1,))
                self._add(flat.view(torch.uint8).numpy().data, size, _name(value))
            return node

    def _room(self, size: int, name: str) -> None:
        if self.size + size > MAX_FRAME:
            reason = f"with it the message holds {(self.size + size) / 1e6:,.0f} MB; at most 64 MB can be passed on"
            raise Unencodable(name, reason=reason)

    def _add(self, data: bytes | memoryview, size: int, name: str) -> None:
        self._room(size, name)
        self.buffers.append(data)
        self.size += size
        padding = -size % ALIGNMENT
        if padding:
            self.buffers.append(bytes(padding))
            self.size += padding


def _name(value: object) -> str:
    return type.__getattribute__(type(value), "__name__")[:100]


def _shown(key: object) -> str:
    return repr(key)[:50] if type(key) in (str, int, bool, float) else _name(key)


_PLAIN: Any = getattr(torch._C, "DisableTorchFunction", contextlib.nullcontext)  # pyright: ignore[reportPrivateUsage]
_Packing = Callable[[Packer, Any, int], Node]
_EXACT: dict[type, _Packing] = {
    type(None): Packer.pack_unchanged,
    bool: Packer.pack_unchanged,
    float: Packer.pack_unchanged,
    int: Packer.pack_int,
    str: Packer.pack_text,
    torch.Tensor: Packer.pack_tensor,
    list: Packer.pack_list,
    tuple: Packer.pack_tuple,
    dict: Packer.pack_dict,
    set: Packer.pack_set,
    frozenset: Packer.pack_set,
    range: Packer.pack_range,
    slice: Packer.pack_range,
    torch.device: Packer.pack_device,
}
_MESSAGES_WITHIN: dict[type, str] = {Target: "target", Known: "known", Source: "source", CallbackRef: "callback"}
_BY_BASE: tuple[tuple[type, _Packing], ...] = (
    (torch.Tensor, Packer.pack_tensor),
    (np.ndarray, Packer.pack_array),
    (np.generic, Packer.pack_number),
    (HandleRef, Packer.pack_handle),
    (torch.dtype, Packer.pack_dtype),
    (int, Packer.pack_int),
    (float, Packer.pack_float),
    (complex, Packer.pack_complex),
    (str, Packer.pack_text),
    (bytes, Packer.pack_bytes),
    (bytearray, Packer.pack_bytes),
    (tuple, Packer.pack_tuple),
    (list, Packer.pack_list),
    (dict, Packer.pack_dict),
    (set, Packer.pack_set),
    (frozenset, Packer.pack_set),
)
