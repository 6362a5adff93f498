"""A card that is not there: CUDA's caching allocator as its source describes it, fed with what torch does on the CPU.

    with SimulatedCard() as card:
        run = run_on_card(call, n, "cpu")

While it is entered, `torch.cuda` answers for it, and each storage that an operation makes is taken from it. Written
after c10/cuda/CUDACachingAllocator.cpp: requests are rounded to 512 bytes; up to 1 MiB come from segments of 2 MiB;
larger ones from segments of 20 MiB, or from 10 MiB on of their own size in steps of 2 MiB; a large block is split only
where more than 1 MiB would be left; blocks that are free are merged, and free segments go back when the card is full.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal
from unittest import mock

import torch

from autograder.worker.meters.allocations import AllocationModel

MIB = 1 << 20
_PRODUCTS = ("aten.mm", "aten.bmm", "aten.addmm", "aten.baddbmm")


@dataclass
class _Block:
    """A piece of a segment; `taken` bytes were asked for, -1 where it is free."""

    size: int
    taken: int = -1


class SimulatedCard:
    """One card, one process.

    Args:
        capacity: bytes of the card.
        others: bytes that other users of the card hold.
        workspace: bytes that a matrix product takes beside its result.
        workspaces: "kept": taken once and kept, as cuBLAS does; "per call": taken and given back for each product.
    """

    def __init__(
        self,
        capacity: int = 16 << 30,
        others: int = 0,
        workspace: int = 8 * MIB + 128 * 1024,
        workspaces: Literal["kept", "per call"] = "kept",
    ) -> None:
        self.capacity, self.others = capacity, others
        self._workspace, self._workspaces = workspace, workspaces
        self._kept_workspace: _Block | None = None
        self._segments: list[list[_Block]] = []
        self._stack = contextlib.ExitStack()
        self._now = {"requested": 0, "allocated": 0, "reserved": 0}
        self._peak = dict(self._now)

    # -------------------------------------------------------------- the allocator

    def take(self, size: int) -> _Block:
        """A block for `size` bytes. Raises `torch.cuda.OutOfMemoryError`."""
        rounded = -(-max(size, 1) // 512) * 512
        is_large = rounded > MIB
        for fresh in (False, True):
            if fresh:
                self._reserve(rounded, is_large)
            fitting = [
                (block.size, place, segment)
                for segment in self._segments
                if (sum(each.size for each in segment) > 2 * MIB) == is_large
                for place, block in enumerate(segment)
                if block.taken < 0 and block.size >= rounded
            ]
            if fitting:
                _, place, segment = min(fitting, key=lambda each: each[0])
                break
        else:
            raise AssertionError("a segment holds what it was made for")
        block = segment[place]
        left = block.size - rounded
        if left > (MIB if is_large else 511):
            segment.insert(place + 1, _Block(left))
            block.size = rounded
        block.taken = size
        self._add(requested=size, allocated=block.size)
        return block

    def give(self, block: _Block) -> None:
        """The block is free again, and one with its free neighbours."""
        self._add(requested=-block.taken, allocated=-block.size)
        block.taken = -1
        segment = next(each for each in self._segments if any(one is block for one in each))
        merged: list[_Block] = []
        for one in segment:
            if merged and one.taken < 0 and merged[-1].taken < 0:
                merged[-1].size += one.size
            else:
                merged.append(one)
        segment[:] = merged

    def _reserve(self, size: int, is_large: bool) -> None:
        segment = 2 * MIB if not is_large else 20 * MIB if size < 10 * MIB else -(-size // (2 * MIB)) * 2 * MIB
        if self.now()["reserved"] + self.others + segment > self.capacity:
            self.empty_cache()
        if self.now()["reserved"] + self.others + segment > self.capacity:
            raise torch.cuda.OutOfMemoryError(f"CUDA out of memory. Tried to allocate {size / MIB:.2f} MiB.")
        self._segments.append([_Block(segment)])
        self._add(reserved=segment)

    def now(self) -> dict[str, int]:
        """Bytes of each kind."""
        return dict(self._now)

    def _add(self, **sizes: int) -> None:
        for kind, size in sizes.items():
            self._now[kind] += size
            self._peak[kind] = max(self._peak[kind], self._now[kind])

    def empty_cache(self) -> None:
        """Free segments go back to the driver."""
        free = [segment for segment in self._segments if all(block.taken < 0 for block in segment)]
        self._segments = [segment for segment in self._segments if segment not in free]
        self._add(reserved=-sum(block.size for segment in free for block in segment))

    def reset(self) -> None:
        """The peaks begin anew."""
        self._peak = self.now()

    @contextlib.contextmanager
    def workspace(self) -> Iterator[None]:
        """A matrix product runs."""
        if self._workspaces == "per call":
            block = self.take(self._workspace)
            yield
            self.give(block)
        else:
            self._kept_workspace = self._kept_workspace or self.take(self._workspace)
            yield

    # -------------------------------------------------------------- in the place of torch.cuda

    def _stats(self, device: object = None) -> dict[str, int]:
        now = self.now()
        return {
            f"{kind}_bytes.all.{when}": values[kind]
            for when, values in (("current", now), ("peak", self._peak))
            for kind in now
        }

    def __enter__(self) -> SimulatedCard:
        free = lambda device=None: (self.capacity - self.others - self.now()["reserved"], self.capacity)  # noqa: E731
        stand_ins: dict[str, Any] = {
            "is_available": lambda: True,
            "synchronize": lambda device=None: None,
            "empty_cache": self.empty_cache,
            "reset_peak_memory_stats": lambda device=None: self.reset(),
            "memory_stats": self._stats,
            "mem_get_info": free,
            "get_device_name": lambda device=None: "a simulated card",
        }
        self._stack.enter_context(mock.patch.multiple(torch.cuda, **stand_ins))
        self._stack.enter_context(_Follower(self))
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()


class _Follower(AllocationModel):
    """Takes each storage from the card, and gives it back when it is gone.

    A sum that autograd's engine would write in place, were it not watched, is taken when the next operation begins: the
    gradient that it replaces is gone by then, and a card never holds both. (The model knows the engine by the frame
    that dispatches, so `__torch_dispatch__` is not overridden here.)
    """

    def __init__(self, card: SimulatedCard) -> None:
        super().__init__()
        self._card = card
        self._blocks: dict[int, _Block] = {}
        self._late: list[int] = []

    def _see(self, storage: torch.UntypedStorage, operator: str) -> None:
        super()._see(storage, operator)
        key = storage._cdata  # pyright: ignore[reportPrivateUsage]
        if self._unsettled:
            self._late.append(key)
            return
        is_product = operator.rpartition(".")[0] in _PRODUCTS
        with self._card.workspace() if is_product else contextlib.nullcontext():
            self._hold(key)

    def _settle(self) -> None:
        super()._settle()
        late, self._late = self._late, []
        for key in late:
            if key in self._storages:
                self._hold(key)

    def _hold(self, key: int) -> None:
        counted = self._storages[key].counted
        held = self._blocks.get(key)
        if counted != (0 if held is None else held.taken):
            if held is not None:
                self._card.give(self._blocks.pop(key))
            if counted:
                self._blocks[key] = self._card.take(counted)

    def _gone(self, key: int) -> None:
        super()._gone(key)
        if key in self._blocks:
            self._card.give(self._blocks.pop(key))
