"""The GPU's own meter: what CUDA's caching allocator held at most during one call, and what the driver saw.

It needs a GPU; the allocator rounds each block to 512 bytes (large ones may count up to 1 MiB more), and matrix
products keep a workspace that is counted once: hence a warm-up and a baseline. It judges nothing.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class DevicePeak:
    """Bytes above the baseline: `allocated` by tensors, `reserved` from the driver, `driver` as the driver counts."""

    allocated: int
    reserved: int
    driver: int


def peak_on_device(call: Callable[[], object], warm_up: Callable[[], object], device: str = "cuda") -> DevicePeak:
    """The peak of `call`, after `warm_up` has loaded kernels and workspaces. Raises `RuntimeError` without a GPU."""
    warm_up()
    gc.collect()
    torch.cuda.synchronize(device)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats(device)
    allocated, reserved = torch.cuda.memory_allocated(device), torch.cuda.memory_reserved(device)
    free, _ = torch.cuda.mem_get_info(device)
    result = call()
    torch.cuda.synchronize(device)
    free_after, _ = torch.cuda.mem_get_info(device)  # the cache keeps what it took: the driver's peak is still there
    peak = DevicePeak(
        allocated=torch.cuda.max_memory_allocated(device) - allocated,
        reserved=torch.cuda.max_memory_reserved(device) - reserved,
        driver=free - free_after,
    )
    del result
    return peak
