"""The allocation model: what a GPU's allocator would hold, followed tensor by tensor, from birth to death.

A dispatch mode sees the result of every operation, and a weak reference to each storage says when it is gone. It
counts bytes of tensors, exactly and the same everywhere, on real tensors and on fake ones. (A storage that is watched
is shared: gradients that autograd would add up in place become a new sum, one gradient more.) It does not see scratch
memory inside a kernel, numpy, or what other threads do; and student code that looks for it can mislead it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from .operations import COMPOSITE, multiply_adds, summed_operand

_MOST_NAMES = 300
_resize: Any = torch.UntypedStorage.resize_


class OverBudget(Exception):
    """More operations than may be spent on this run."""


class _Storage:
    """One storage: bytes that count, bytes that were there before, and the reference that tells of its end."""

    __slots__ = ("base", "counted", "reference")

    def __init__(self, base: int, reference: weakref.ref[Any]) -> None:
        self.base, self.counted, self.reference = base, 0, reference


class _Kind:
    """What is known of an operator, looked up once: dispatching is the hot path."""

    __slots__ = ("asks", "is_fresh", "is_view", "name", "summed")

    def __init__(self, func: Any) -> None:
        self.name = str(func)
        self.asks = self.name.startswith("prim.")  # questions, such as for the device, are no work
        self.is_fresh = self.name.startswith("aten.lift_fresh")  # hands on what was made a moment ago, out of sight
        self.is_view = bool(getattr(func, "is_view", False))
        self.summed = summed_operand(func)


class AllocationModel(TorchDispatchMode):
    """Counts while it is entered.

    Args:
        base: tensors that are there before and count for nothing; what they grow by counts.
        where: says which line of code is running; asked when a tensor is larger than any before.
        most_operations: `OverBudget` is raised after so many; 0 for no budget.

    Attributes:
        live, peak: bytes now, and the most at any time.
        largest, largest_where, largest_operator: bytes of the largest storage, the line and the operator it came from.
        operations: how many were dispatched.
        elements: numbers they wrote, views apart.
        products: multiply-adds of matrix products.
        operators: the names of all that were dispatched or called.
    """

    supports_higher_order_operators = True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """No wrapper around the dispatch method: it would import the compiler, 0.7 s in each worker."""
        return False

    def __init__(
        self, base: Iterable[Tensor] = (), where: Callable[[], str] = lambda: "", most_operations: int = 0
    ) -> None:
        super().__init__()
        self.live = self.peak = self.largest = self.operations = self.elements = self.products = 0
        self.largest_where = self.largest_operator = ""
        self.operators: set[str] = set()
        self._where, self._most = where, most_operations
        self._storages: dict[int, _Storage] = {}
        self._kinds: dict[Any, _Kind] = {}
        self._calls = _Calls(self.operators)
        for tensor in base:
            self.exempt(tensor)

    def exempt(self, tensor: Tensor) -> None:
        """The bytes that `tensor` has now count for nothing (from now on, if they did)."""
        storage = tensor.untyped_storage()
        known = self._known(storage)
        self.live -= known.counted
        known.base, known.counted = storage.nbytes(), 0

    def __enter__(self) -> AllocationModel:
        def resize_(storage: torch.UntypedStorage, size: int) -> Any:
            result = _resize(storage, size)
            self._see(storage, "resize_")
            return result

        torch.UntypedStorage.resize_ = resize_  # pyright: ignore[reportAttributeAccessIssue]  # dispatched to nobody
        self._calls.__enter__()
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self._calls.__exit__(*error)
        torch.UntypedStorage.resize_ = _resize

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kind = self._kinds.get(func)
        if kind is None:
            kind = self._kinds[func] = _Kind(func)
            if len(self.operators) < _MOST_NAMES:
                self.operators.add(kind.name)
        if kind.asks:
            return func(*args, **(kwargs or {}))
        self.operations += 1
        if self._most and self.operations > self._most:
            raise OverBudget(f"more than {self._most:,} operations")
        if not kind.is_fresh:
            for tensor in _tensors(args):
                self._meet(tensor)
        result = func(*args, **(kwargs or {}))
        if kind.summed is not None:
            self.products += multiply_adds(kind.name, kind.summed, args, result)
        for tensor in (result,) if isinstance(result, Tensor) else _tensors(result):
            if not kind.is_view:
                self.elements += tensor.numel()
            if tensor.layout is torch.strided:
                self._see(tensor.untyped_storage(), kind.name)
        return result

    def _meet(self, tensor: Tensor) -> None:
        """What an operation is given and nobody has seen was there before: parameters, constants."""
        if tensor.layout is torch.strided:
            storage = tensor.untyped_storage()
            if storage._cdata not in self._storages:  # pyright: ignore[reportPrivateUsage]
                self._known(storage).base = storage.nbytes()

    def _see(self, storage: torch.UntypedStorage, operator: str) -> None:
        """Count a storage that is new, or that has grown or shrunk."""
        is_new = storage._cdata not in self._storages  # pyright: ignore[reportPrivateUsage]
        known = self._known(storage)
        counted = max(0, storage.nbytes() - known.base)
        if counted == known.counted:
            return
        if not is_new and counted > known.counted:
            self.peak = max(self.peak, self.live + storage.nbytes())  # while it is copied, old and new are there
        self.live += counted - known.counted
        known.counted = counted
        self.peak = max(self.peak, self.live)
        if counted > self.largest:
            self.largest, self.largest_operator, self.largest_where = counted, operator, self._where()

    def _known(self, storage: torch.UntypedStorage) -> _Storage:
        key = storage._cdata  # pyright: ignore[reportPrivateUsage]
        if key not in self._storages:
            self._storages[key] = _Storage(0, weakref.ref(storage, lambda _: self._gone(key)))
        return self._storages[key]

    def _gone(self, key: int) -> None:
        storage = self._storages.pop(key, None)
        if storage is not None:
            self.live -= storage.counted


class _Calls(TorchFunctionMode):
    """Keeps the names of called functions that torch takes apart before anything is dispatched."""

    def __init__(self, names: set[str]) -> None:
        super().__init__()
        self._names = names

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        if name in COMPOSITE:
            self._names.add(f"called.{name}")
        return func(*args, **(kwargs or {}))


def _tensors(result: Any) -> Iterable[Tensor]:
    if isinstance(result, Tensor):
        return (result,)
    if isinstance(result, (tuple, list)):
        return [tensor for item in result for tensor in _tensors(item)]  # pyright: ignore[reportUnknownVariableType]
    return ()
