"""The allocation model: what a GPU's allocator would hold, followed tensor by tensor, from birth to death.

A dispatch mode sees the result of every operation, and a weak reference to each storage says when it is gone. It
counts bytes of tensors, exactly and the same everywhere, on real tensors and on fake ones. (A storage that is watched
is shared: gradients that autograd would add up in place become a new sum, one gradient more.) It does not see scratch
memory inside a kernel, numpy, or what other threads do; and student code that looks for it can mislead it.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils import _python_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

from .operations import COMPOSITE, multiply_adds, summed_operand

_MOST_NAMES = 300
_ENGINE = getattr(getattr(torch.autograd.graph, "_engine_run_backward", None), "__code__", None)
_dense: Any = torch.ops.aten.is_non_overlapping_and_dense.default
_ELSE_IN_PLACE = frozenset(
    f"aten.{name}"
    for name in ("add.Tensor", "index_put.default", "index_add.default", "put.default", "scatter.src", "scatter.value",
                 "scatter_add.default")
)  # fmt: skip
_resize: Any = torch.UntypedStorage.resize_
_C: Any = torch._C  # pyright: ignore[reportPrivateUsage]
_SWITCHES: dict[tuple[Any, str], Any] = {
    (module, name): getattr(module, name)
    for module, names in (
        (_python_dispatch, ("_disable_current_modes", "_pop_mode_temporarily")),
        (_C, ("_DisableTorchDispatch", "_ExcludeDispatchKeyGuard", "_SetExcludeDispatchKeyGuard")),
        (_C, ("_pop_torch_dispatch_stack", "_unset_dispatch_mode")),
    )
    for name in names
    if hasattr(module, name)
}
"""What takes a mode away: while the model looks, only torch itself may use it."""


def _guarded(was: Any) -> Any:
    def switch(*args: Any, **kwargs: Any) -> Any:
        if sys._getframe(1).f_globals.get("__name__", "").partition(".")[0] != "torch":  # pyright: ignore[reportPrivateUsage]
            raise RuntimeError("memory is measured here, and what takes torch's dispatch modes away is left out")
        return was(*args, **kwargs)

    return switch


class OverBudget(Exception):
    """More operations than may be spent on this run."""


class _Storage:
    """One storage: bytes that count, bytes that were there before, and the reference that tells of its end."""

    __slots__ = ("base", "counted", "reference")

    def __init__(self, base: int, reference: weakref.ref[Any]) -> None:
        self.base, self.counted, self.reference = base, 0, reference


class _Kind:
    """What is known of an operator, looked up once: dispatching is the hot path."""

    __slots__ = ("asks", "else_in_place", "is_fresh", "is_view", "name", "summed")

    def __init__(self, func: Any) -> None:
        self.name = str(func)
        self.asks = self.name.startswith("prim.")  # questions, such as for the device, are no work
        self.is_fresh = self.name.startswith("aten.lift_fresh")  # hands on what was made a moment ago, out of sight
        self.is_view = bool(getattr(func, "is_view", False))
        self.summed = summed_operand(func)
        self.else_in_place = self.name in _ELSE_IN_PLACE


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
        self._unsettled = False
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
        for (module, name), was in _SWITCHES.items():
            setattr(module, name, _guarded(was))
        self._calls.__enter__()
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self._settle()
        self._calls.__exit__(*error)
        torch.UntypedStorage.resize_ = _resize
        for (module, name), was in _SWITCHES.items():
            setattr(module, name, was)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kind = self._kinds.get(func)
        if kind is None:
            kind = self._kinds[func] = _Kind(func)
            if len(self.operators) < _MOST_NAMES:
                self.operators.add(kind.name)
        if kind.asks:
            return func(*args, **(kwargs or {}))
        self._settle()
        self._unsettled = kind.else_in_place and _is_backward_in_place(args, sys._getframe(1).f_code)  # pyright: ignore[reportPrivateUsage]
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
            if kind.is_view:
                self._meet(tensor)  # of a real tensor under fake ones
            else:
                self.elements += tensor.numel()
            for storage in _storages_of(tensor):
                self._see(storage, kind.name)
        return result

    def _settle(self) -> None:
        """What the last operation made counts from now on in any case: the gradient that it replaced may be gone."""
        if self._unsettled:
            self._unsettled = False
            self.peak = max(self.peak, self.live)

    def _meet(self, tensor: Tensor) -> None:
        """What an operation is given and nobody has seen was there before: parameters, constants."""
        for storage in _storages_of(tensor):
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
        if not self._unsettled:
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


def _is_backward_in_place(args: Any, caller: Any) -> bool:
    """Whether autograd's engine would write into the first operand, were it not watched.

    It adds up gradients of a tensor, and fills those of parts of one, in place where nobody else holds what is written
    to. Under any dispatch mode it makes a new tensor and lets go of the old one at once. So the new one counts when the
    next operation begins, and what is held then is held.
    """
    old = args[0]
    return (
        _ENGINE is not None
        and caller is _ENGINE
        and isinstance(old, Tensor)
        and old.layout is torch.strided
        and bool(_dense(old))
    )


def _storages_of(tensor: Tensor) -> Iterable[torch.UntypedStorage]:
    """The storage of a tensor; those of a sparse one's places and values; none of a layout that shows none."""
    if tensor.layout is torch.strided:
        return (tensor.untyped_storage(),)
    if tensor.layout is torch.sparse_coo:
        return (tensor._indices().untyped_storage(), tensor._values().untyped_storage())
    if tensor.layout is torch.sparse_csr:
        inner = (tensor.crow_indices(), tensor.col_indices(), tensor.values())
        return tuple(part.untyped_storage() for part in inner)
    return ()


def _tensors(result: Any) -> Iterable[Tensor]:
    if isinstance(result, Tensor):
        return (result,)
    if isinstance(result, (tuple, list)):
        return [tensor for item in result for tensor in _tensors(item)]  # pyright: ignore[reportUnknownVariableType]
    return ()
