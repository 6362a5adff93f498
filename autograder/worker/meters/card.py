"""The GPU's own meter: what CUDA's caching allocator held at most during a call, and how long the call took.

Three figures come from the allocator. `requested` are the bytes that tensors asked for; `allocated` are those of the
blocks that they got (512 bytes a step, and up to 1 MiB more where a large block is not split); `reserved` are those of
the segments that the driver gave. `driver` is by how much the card's free memory fell, whoever took it.

A first call loads kernels and workspaces. What of these stays is there before and after, and is not counted. A
workspace that is taken for the call is counted: it is a constant, which the second difference over lengths takes out
(`testing.memory`). It judges nothing.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

_TIMED = 3


@dataclass(frozen=True)
class CardRun:
    """One length on a card. Bytes above those that were there before the call; seconds are the median of three."""

    n: int
    requested: int
    allocated: int
    reserved: int
    driver: int
    seconds: float


def run_on_card(call: Callable[[], object], n: int, device: str = "cuda") -> CardRun:
    """Measure `call`, which makes no tensor that it keeps.

    Raises:
        torch.cuda.OutOfMemoryError: where the card is too small, or too full.
        RuntimeError: without a GPU.
    """
    call()
    gc.collect()
    torch.cuda.synchronize(device)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_stats(device)
    free, _ = torch.cuda.mem_get_info(device)
    result = call()
    torch.cuda.synchronize(device)
    after = torch.cuda.memory_stats(device)
    free_after, _ = torch.cuda.mem_get_info(device)  # the cache keeps what it took: the driver's peak is still there
    del result
    requested, allocated, reserved = (
        after.get(f"{kind}_bytes.all.peak", 0) - before.get(f"{kind}_bytes.all.current", 0)
        for kind in ("requested", "allocated", "reserved")
    )
    seconds = statistics.median(_seconds(call, device) for _ in range(_TIMED))
    return CardRun(n, requested, allocated, reserved, max(0, free - free_after), seconds)


def _seconds(call: Callable[[], object], device: str) -> float:
    start = time.perf_counter()
    call()
    torch.cuda.synchronize(device)
    return time.perf_counter() - start
