"""A value in a few hundred bytes (its fingerprint), and whether two fingerprints are of one value up to rounding.

For a tensor it keeps the dtype, the shape, how many entries are NaN or infinite, at most 64 entries spread evenly, and
three weighted sums over all entries. For any other data it keeps the type and a hash. The value cannot be rebuilt.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sized
from typing import Any, cast

import msgspec
import numpy
import torch
from numpy.typing import NDArray
from torch import Tensor

from autograder.worker.protocol.messages import HandleRef

MOST_ENTRIES = 64
_MOST_ITEMS = 16
_MOST_NUMBERS = 1 << 22  # of a larger tensor every second, third, ... entry: 64 MB of halves took 2.4 GB
_MOST_HASHED = 50_000  # items of a list, from its beginning: a student may return millions

# Two ways to compute the same wrong thing differ by rounding alone; half types round at 2 eps.
_RELATIVE = {"float16": 2e-3, "bfloat16": 1.6e-2}
_RELATIVE_ELSE = 1e-4


class Fingerprint(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is kept of a value.

    Attributes:
        kind: its type, with the dtype of a tensor: "tensor float32", "str", "list".
        shape: the shape of a tensor, or the length of a list, tuple or dict.
        entries: float32, little-endian, at most 64 of them, spread evenly over the flattened tensor.
        sums: of all finite entries (of some, if there are millions), weighted by 1, cos(i) and sin(i sqrt 2).
            Only for floating-point tensors.
        largest: the largest finite magnitude.
        odd: how many entries are NaN, +infinity, -infinity.
        digest: a hash of the exact value, if it is not a floating-point tensor.
        items: the fingerprint of each item of a list or tuple that holds tensors.
        telling: whether another value would hardly agree with it by accident.
    """

    kind: str
    shape: tuple[int, ...] = ()
    entries: bytes = b""
    sums: tuple[float, ...] = ()
    largest: float = 0.0
    odd: tuple[int, ...] = ()
    digest: str = ""
    items: tuple[Fingerprint, ...] = ()
    telling: bool = False


def fingerprint(value: Any) -> Fingerprint:
    """The fingerprint of any value that a check compares. Never raises for what a student returned."""
    name = _kind(value)
    if isinstance(value, Tensor):
        try:
            return _of_tensor(value.detach().cpu(), "tensor")
        except (RuntimeError, TypeError):  # a layout or a dtype that torch cannot read out
            return Fingerprint(f"tensor {value.dtype}", tuple(value.shape))
    if isinstance(value, numpy.ndarray):
        return _of_array(cast("NDArray[Any]", value))
    if isinstance(value, float):
        return _of_tensor(torch.tensor(value, dtype=torch.float64), "number")
    if isinstance(value, (list, tuple)):
        every = cast("list[Any] | tuple[Any, ...]", value)
        if any(isinstance(item, (Tensor, numpy.ndarray)) for item in every):
            items = tuple(fingerprint(item) for item in every[:_MOST_ITEMS])
            telling = any(item.telling for item in items)
            return Fingerprint(name, (len(every),), items=items, telling=telling)
    plain = hashlib.sha256()
    size = _feed(plain, value)
    return Fingerprint(name, _length(value), digest=plain.hexdigest()[:16], telling=size > 24)


def agree(a: Fingerprint, b: Fingerprint, times: float = 1.0) -> bool:
    """Whether two values are the same up to `times` the rounding that two ways to compute one thing may differ by."""
    if (a.kind, a.shape, a.odd, a.digest, len(a.items)) != (b.kind, b.shape, b.odd, b.digest, len(b.items)):
        return False
    if a.items:
        return all(agree(mine, theirs, times) for mine, theirs in zip(a.items, b.items, strict=True))
    if not a.sums:
        return True
    allowed = times * _RELATIVE.get(a.kind.split()[-1], _RELATIVE_ELSE) * max(a.largest, b.largest)
    mine, theirs = (numpy.frombuffer(each.entries, "<f4").astype(numpy.float64) for each in (a, b))
    finite = numpy.isfinite(mine)
    if not bool((finite == numpy.isfinite(theirs)).all()):
        return False
    if not bool(((mine == theirs) | (numpy.isnan(mine) & numpy.isnan(theirs)))[~finite].all()):
        return False
    if bool((abs(mine[finite] - theirs[finite]) > allowed).any()):
        return False
    spread = allowed * math.sqrt(max(1, math.prod(a.shape)))
    return all(x == y or abs(x - y) <= spread for x, y in zip(a.sums, b.sums, strict=True))


def _of_array(value: NDArray[Any]) -> Fingerprint:
    try:
        return _of_tensor(torch.as_tensor(numpy.ascontiguousarray(value)), "array")
    except (TypeError, ValueError):
        return Fingerprint(f"array {value.dtype}", tuple(value.shape))


def _of_tensor(value: Tensor, what: str) -> Fingerprint:
    kind = f"{what} {str(value.dtype).removeprefix('torch.')}"
    shape = tuple(value.shape)
    if value.is_complex():
        value = torch.view_as_real(value.resolve_conj())
    flat = value.flatten()
    flat = flat[:: max(1, -(-flat.numel() // _MOST_NUMBERS))]
    if not flat.is_floating_point():
        digest = hashlib.sha256(flat.to(torch.int64).numpy().tobytes()).hexdigest()[:16]
        telling = flat.numel() >= 12 and bool((flat != flat[0]).any())
        return Fingerprint(kind, shape, digest=digest, telling=telling)
    numbers = flat.double().numpy()
    finite = numpy.isfinite(numbers)
    clean = numpy.where(finite, numbers, 0.0)
    kept = min(len(numbers), MOST_ENTRIES)
    places = torch.linspace(0, max(0, len(numbers) - 1), kept, dtype=torch.float64).round().long().numpy()
    counted = numpy.arange(len(numbers), dtype=numpy.float64)
    with numpy.errstate(over="ignore", invalid="ignore"):
        entries = numbers[places].astype("<f4")
        weights = (numpy.ones(len(numbers)), numpy.cos(counted), numpy.sin(counted * math.sqrt(2)))
        sums = tuple(float(numpy.nan_to_num(clean @ each)) for each in weights)
    return Fingerprint(
        kind,
        shape,
        entries=entries.tobytes(),
        sums=sums,
        largest=float(abs(clean).max(initial=0.0)),
        odd=(
            int(numpy.isnan(numbers).sum()),
            int((numbers == numpy.inf).sum()),
            int((numbers == -numpy.inf).sum()),
        ),
        telling=_is_telling(clean[finite]),
    )


def _is_telling(numbers: NDArray[Any]) -> bool:
    """At least two different numbers that are no 0, 1 or -1: not all zero, not uniform, not all NaN."""
    unusual = numbers[(abs(numbers) > 1e-6) & (abs(abs(numbers) - 1) > 1e-3)]
    return bool(len(unusual)) and bool(unusual.max() - unusual.min() > 1e-2 * abs(unusual).max())


def _kind(value: Any) -> str:
    name = value.type_name[:100] if isinstance(value, HandleRef) else ""
    return f"object {name}" if name else type(value).__name__


def _length(value: Any) -> tuple[int, ...]:
    return (len(cast("Sized", value)),) if isinstance(value, (list, tuple, dict, str, bytes)) else ()


def _ordered(key: Any) -> str:
    """A text to sort by; an integer may have more digits than Python writes out, and a tuple may hold one."""
    if isinstance(key, tuple):
        return f"({','.join(_ordered(item) for item in cast('tuple[Any, ...]', key))})"
    return hex(key) if isinstance(key, int) and key.bit_length() > 64 else repr(key)


def _feed(digest: Any, value: Any, depth: int = 0) -> int:
    """Feed plain data into a hash, dicts in the order of their keys' text; how many characters went in."""
    name = _kind(value)
    if isinstance(value, (list, tuple)) and depth < 32:
        every = cast("list[Any]", value)
        digest.update(f"{name}{len(every)}".encode())
        return sum(_feed(digest, item, depth + 1) + 1 for item in every[:_MOST_HASHED])
    if isinstance(value, Mapping) and depth < 32:
        pairs = sorted(cast("Mapping[Any, Any]", value).items(), key=lambda pair: _ordered(pair[0]))
        digest.update(f"dict{len(pairs)}".encode())
        return sum(_feed(digest, key, depth + 1) + _feed(digest, item, depth + 1) + 2 for key, item in pairs)
    if isinstance(value, (Tensor, numpy.ndarray)):
        text = msgspec.msgpack.encode(fingerprint(value)).hex()
    elif isinstance(value, int):
        text = hex(value)
    elif isinstance(value, (str, bytes, float)):
        text = repr(value)
    else:
        text = ""
    text = f"{name} {text}"
    digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return len(text)
