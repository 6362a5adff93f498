"""Trained weights that were handed in: bytes of a .safetensors file -> tensors with the names and shapes of a model.

The bytes come from a student. A safetensors file holds a header and numbers, and nothing in it is run. The library
refuses offsets that overlap or lie outside the file. Here the size is bounded, names and shapes must be those of the
model, and numbers must be finite.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from autograder.testing.mismatch import Mismatch, compared, dtype_name

LARGEST = 16 << 20
LARGEST_HEADER = 1 << 20
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


def read_weights(data: bytes | None, name: str, like: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors of a file that belong to a model, in float32.

    Args:
        data: the file's content; None if it was not handed in.
        name: of the file, for messages.
        like: the state_dict of the model. Other tensors in the file (buffers of the student's own) are ignored.

    Returns:
        One tensor for each name in `like`, of its shape.

    Raises:
        Mismatch: if the file is missing or not a safetensors file, or a tensor is missing, has another shape, holds no
            floating-point numbers, or is not finite.
    """
    return fitted(parsed(data, name), name, like)


def fitted(stored: Mapping[str, Tensor], name: str, like: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The stored tensors that belong to a model, in float32. Arguments and errors: `read_weights`."""
    weights: dict[str, Tensor] = {}
    for key, parameter in like.items():
        if key not in stored:
            have = ", ".join(list(stored)[:20]) or "none"
            raise Mismatch(name, f"a tensor {key}, as in the starter", f"these names: {have}")
        weights[key] = _checked(stored[key], tuple(parameter.shape), f"{name}, {key}")
    return weights


def parsed(data: bytes | None, name: str) -> dict[str, Tensor]:
    """All tensors of a file as they are stored. Raises `Mismatch` if the file is missing or not a safetensors file."""
    compared(data if data is None else len(data), None, name)
    if data is None:
        hint = "run your script once: it writes the file beside itself, and you hand it in"
        raise Mismatch(name, "a file of this name beside your code", "none", hint)
    if len(data) > LARGEST:
        raise Mismatch(name, f"a file of at most {LARGEST >> 20} MB", f"{len(data) / 2**20:,.0f} MB")
    if len(data) < 8 or int.from_bytes(data[:8], "little") > min(LARGEST_HEADER, len(data) - 8):
        raise Mismatch(name, "a safetensors file", f"{len(data):,} bytes without its header", "it may be cut short")
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        return load(data)
    except (SafetensorError, ValueError, KeyError, AttributeError, TypeError) as error:
        reason = "".join(each if each.isprintable() else "?" for each in str(error))[:200]
        raise Mismatch(name, "a safetensors file", f"one that cannot be read ({reason})") from None


def _checked(value: Any, shape: tuple[int, ...], what: str) -> Tensor:
    if not isinstance(value, Tensor) or value.dtype not in FLOATS:
        got = dtype_name(value.dtype) if isinstance(value, Tensor) else type(value).__name__
        raise Mismatch(what, "floating-point numbers", got)
    if tuple(value.shape) != shape:
        raise Mismatch(what, f"shape {shape}", f"shape {tuple(value.shape)}")
    value = value.to(torch.float32)
    if not bool(torch.isfinite(value).all()):
        raise Mismatch(what, "finite numbers", "NaN or infinity", "the training diverged")
    return value
