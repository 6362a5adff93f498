"""The GPU's meter, held against an allocator that is written down here: what counts, and what was there before."""

from __future__ import annotations

import pytest
import torch

from benchmarks.device import DevicePeak, peak_on_device

SEGMENT = 1 << 21


class Allocator:
    """Stands in for CUDA's: it keeps what it took from the driver, in segments, until its cache is emptied."""

    def __init__(self) -> None:
        self.allocated = self.reserved = self.most_allocated = self.most_reserved = 0

    def take(self, size: int) -> None:
        self.allocated += size
        self.reserved = max(self.reserved, -(-self.allocated // SEGMENT) * SEGMENT)
        self.most_allocated = max(self.most_allocated, self.allocated)
        self.most_reserved = max(self.most_reserved, self.reserved)

    def give(self, size: int) -> None:
        self.allocated -= size

    def empty_cache(self) -> None:
        self.reserved = -(-self.allocated // SEGMENT) * SEGMENT

    def reset_peak_memory_stats(self, device: str) -> None:
        self.most_allocated, self.most_reserved = self.allocated, self.reserved


@pytest.fixture
def allocator(monkeypatch: pytest.MonkeyPatch) -> Allocator:
    mine = Allocator()
    for name, function in {
        "synchronize": lambda device: None,
        "empty_cache": mine.empty_cache,
        "reset_peak_memory_stats": mine.reset_peak_memory_stats,
        "memory_allocated": lambda device: mine.allocated,
        "memory_reserved": lambda device: mine.reserved,
        "max_memory_allocated": lambda device: mine.most_allocated,
        "max_memory_reserved": lambda device: mine.most_reserved,
        "mem_get_info": lambda device: ((64 << 30) - mine.reserved, 64 << 30),
    }.items():
        monkeypatch.setattr(torch.cuda, name, function)
    return mine


def test_the_peak_of_the_call_counts_and_not_what_was_there_before_it(allocator: Allocator) -> None:
    allocator.take(5 * SEGMENT)  # the inputs

    def warm_up() -> None:
        allocator.take(SEGMENT)  # a workspace, which stays
        allocator.take(40 * SEGMENT)
        allocator.give(40 * SEGMENT)

    def call() -> None:
        allocator.take(7 * SEGMENT)
        allocator.give(6 * SEGMENT)  # the result stays

    assert peak_on_device(call, warm_up) == DevicePeak(*[7 * SEGMENT] * 3)


def test_the_driver_counts_whole_segments(allocator: Allocator) -> None:
    peak = peak_on_device(lambda: allocator.take(SEGMENT + 512), lambda: None)
    assert (peak.allocated, peak.reserved, peak.driver) == (SEGMENT + 512, 2 * SEGMENT, 2 * SEGMENT)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_raises() -> None:
    with pytest.raises((RuntimeError, AssertionError)):
        peak_on_device(lambda: None, lambda: None)
