"""A failing case as a script: what a check asked of a student's code, as the student would write it.

    import torch
    from attention import scaled_dot_product_attention

    q = torch.tensor([[0.5, -1.0]])
    ...
    got = scaled_dot_product_attention(q, k, v)
    print(got)

The calls that made the objects involved come first. Tensors of more than 64 numbers lie in a file beside the script.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor

from autograder.worker.protocol.messages import (
    Call,
    HandleRef,
    Measure,
    Observe,
    OpenStream,
    Reply,
    Request,
    Returned,
    Target,
    Vjp,
)

_MOST_NUMBERS = 64
_NAMES = {3: ("q", "k", "v"), 4: ("q", "k", "v", "more")}
CALLS = (Call, Observe, Vjp, OpenStream)
Exchange = tuple[Request, Reply | None]


class CaseScript:
    """The script, and the tensors that are too large for it, by name."""

    def __init__(
        self, part: str, exchanges: Sequence[Exchange], property: str, told: Sequence[tuple[str, str]]
    ) -> None:
        """`exchanges` are the requests of the failing item, in order, the last being the one that failed."""
        self.tensors: dict[str, Tensor] = {}
        self._part, self._names = part, set[str]()
        self._lines: list[str] = []
        self._count = 0
        *before, (last, _) = _needed(exchanges)
        for request, reply in before:
            self._write(request, reply, last=False)
        self._write(last, None, last=True)
        self._head = [
            f'"""{property}',
            "",
            *(f"{label}: {line}" for label, text in told for line in text.splitlines()),
            '"""',
        ]

    def text(self, file: str) -> str:
        """The source. `file` is the name of the file with the large tensors."""
        names = ", ".join(sorted(self._names))
        head = [*self._head, "", "import torch"]
        head += ["from safetensors.torch import load_file"] if self.tensors else []
        head += ["", f"from {self._part} import {names}" if names else f"import {self._part}", ""]
        head += [f'large = load_file("{file}")'] if self.tensors else []
        return "\n".join([*head, *self._lines]) + "\n"

    def _write(self, request: Request, reply: Reply | None, *, last: bool) -> None:
        if isinstance(request, Measure):
            return
        assert isinstance(request, CALLS)
        args = self._arguments(request.args, leaves=isinstance(request, Vjp))
        if isinstance(request, OpenStream):
            items = self._literal(list(request.items))
            args.append(
                f"iter({items} * {max(1, request.count // max(1, len(request.items)))})"
                if request.count
                else f"iter({items})"
            )
        args += [f"{name}={self._literal(value)}" for name, value in request.kwargs.items()]
        call = f"{self._called(request.target)}({', '.join(args)})"
        if not last:
            made = reply.value if isinstance(reply, Returned) else None
            self._lines.append(f"{_object(made)} = {call}" if isinstance(made, HandleRef) else call)
            return
        self._lines.append(f"got = {call}")
        if isinstance(request, Vjp):
            self._lines.append("outputs = [out for out in (got if isinstance(got, tuple) else (got,))]")
            cotangents = ", ".join(self._literal(each) for each in request.cotangents)
            self._lines.append(f"cotangents = [{cotangents}]")
            self._lines.append(
                "sum((out * c).sum() for out, c in zip(outputs, cotangents) if c is not None).backward()"
            )
            self._lines += [f'print("{each}.grad", {each}.grad)' for each in args if each.isidentifier()]
        self._lines.append("print(list(got))" if isinstance(request, OpenStream) else "print(got)")

    def _called(self, target: Target) -> str:
        if target.handle is None:
            self._names.add(target.name)
            return target.name
        return f"object_{target.handle}.{target.name}" if target.name else f"object_{target.handle}"

    def _arguments(self, args: Sequence[Any], *, leaves: bool) -> list[str]:
        tensors = [value for value in args if isinstance(value, Tensor)]
        names = _NAMES.get(len(tensors), ()) if all(t.is_floating_point() for t in tensors) else ()
        found: list[str] = []
        for value in args:
            if not isinstance(value, Tensor):
                found.append(self._literal(value))
                continue
            place = sum(each.isidentifier() for each in found)
            name = names[place] if place < len(names) else f"x{self._count}"
            self._count += 1
            grad = ".requires_grad_()" if leaves and value.is_floating_point() else ""
            self._lines.append(f"{name} = {self._literal(value)}{grad}")
            found.append(name)
        return found

    def _literal(self, value: Any) -> str:
        if isinstance(value, HandleRef):
            return _object(value)
        if isinstance(value, Tensor):
            if value.numel() > _MOST_NUMBERS:
                name = f"large_{len(self.tensors)}"
                self.tensors[name] = value.detach().contiguous()
                return f'large["{name}"]'
            plain = cast(Any, value).tolist()
            numbers = str(plain).replace("-inf", "-torch.inf").replace("[inf", "[torch.inf").replace("nan", "torch.nan")
            dtype = "" if value.dtype in (torch.float32, torch.int64, torch.bool) else f", dtype={value.dtype}"
            return f"torch.tensor({numbers}{dtype})"
        if isinstance(value, (list, tuple)):
            items = [self._literal(item) for item in cast("list[Any] | tuple[Any, ...]", value)]
            inside = ", ".join(items)
            return f"({inside}{',' * (len(items) == 1)})" if isinstance(value, tuple) else f"[{inside}]"
        if isinstance(value, dict):
            pairs = cast("dict[Any, Any]", value).items()
            return "{" + ", ".join(f"{self._literal(key)}: {self._literal(item)}" for key, item in pairs) + "}"
        return repr(value)


def _object(made: HandleRef) -> str:
    return f"object_{made.id}"


def _needed(exchanges: Sequence[Exchange]) -> list[Exchange]:
    """The last call, and before it those that made or changed the objects it uses."""
    calls = [each for each in exchanges if isinstance(each[0], CALLS)]
    last = calls[-1]
    handles = _handles(last[0])
    needed: list[Exchange] = []
    for request, reply in reversed(calls[:-1]):
        assert isinstance(request, CALLS)
        makes = isinstance(reply, Returned) and isinstance(reply.value, HandleRef) and reply.value.id in handles
        changes = request.target.handle in handles and request.target.name.startswith(
            ("load_", "train", "eval", "double")
        )
        if makes or changes:
            handles |= _handles(request)
            needed.append((request, reply))
    return [*reversed(needed), last]


def _handles(request: Request) -> set[int]:
    found: set[int] = set()

    def look(value: Any) -> None:
        if isinstance(value, HandleRef):
            found.add(value.id)
        elif isinstance(value, (list, tuple)):
            for item in cast("list[Any] | tuple[Any, ...]", value):
                look(item)
        elif isinstance(value, dict):
            for item in cast("dict[Any, Any]", value).values():
                look(item)

    target: Target = cast(Any, request).target
    if target.handle is not None:
        found.add(target.handle)
    look([cast(Any, request).args, cast(Any, request).kwargs])
    return found
