"""A call in one line, as a student would type it: the case of a failing check.

Small values are written out; of larger tensors the dtype and shape are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from autograder.worker.protocol.messages import HandleRef

MOST_NUMBERS = 6
MOST_CHARACTERS = 300
_MOST_OF_TEXT = 200
_MOST_BITS = 256  # Python refuses to write out an integer of thousands of digits


class Called(Protocol):
    """What is known of a call."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def describe_call(call: Called | None) -> str:
    """`softmax(tensor([1., 2., 3.]), 0)`, or "" if nothing was called."""
    if call is None:
        return ""
    words = [describe_value(value) for value in call.args]
    words += [f"{name}={describe_value(value)}" for name, value in call.kwargs.items()]
    return shorten(f"{call.name}({', '.join(words)})")


def describe_value(value: Any) -> str:
    """`tensor([1., 2.])` for a small tensor, `float32 (2, 5, 7)` for a larger one."""
    import torch

    if isinstance(value, torch.Tensor):
        return _describe_tensor(value)
    if isinstance(value, (list, tuple)):
        words = [describe_value(item) for item in list(value)[:8]]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        words += ["..."] if len(value) > 8 else []  # pyright: ignore[reportUnknownArgumentType]
        inside = ", ".join(words)
        if isinstance(value, list):
            return f"[{inside}]"
        return f"({inside},)" if len(words) == 1 else f"({inside})"
    if isinstance(value, Mapping):
        items = list(cast("Mapping[Any, Any]", value).items())[:8]
        return "{" + ", ".join(f"{describe_value(key)}: {describe_value(each)}" for key, each in items) + "}"
    if isinstance(value, (str, bytes)):
        return shorten(repr(value[:_MOST_OF_TEXT]), 80)
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return f"an integer of {value.bit_length():,} bits"
    if isinstance(value, HandleRef):
        return shorten(f"<your {value.type_name}>" if value.type_name else "<your object>", 80)
    return shorten(repr(value), 80)


def _describe_tensor(value: Any) -> str:
    name = str(value.dtype).removeprefix("torch.")
    if value.numel() <= MOST_NUMBERS and value.dim() <= 2 and not value.is_meta:
        numbers = _numbers(value.detach().tolist())
        return f"tensor({numbers})" if name == "float32" else f"tensor({numbers}, {name})"
    return f"{name} {tuple(value.shape)}"


def _numbers(value: Any) -> str:
    if isinstance(value, Sequence):
        return "[" + ", ".join(_numbers(item) for item in value) + "]"  # pyright: ignore[reportUnknownVariableType]
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def shorten(text: str, most: int = MOST_CHARACTERS) -> str:
    """`text`, without its middle if it is longer than `most` characters."""
    return text if len(text) <= most else f"{text[: most // 2]} ... {text[-most // 3 :]}"
