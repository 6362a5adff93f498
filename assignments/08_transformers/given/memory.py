"""How much memory one call takes at its peak, by the same model of an allocator that the checks use.

Nothing to write here. It follows every tensor from birth to death and counts bytes, as a GPU's allocator does; what a
kernel takes for itself is not among them. It needs the package `softmark`, as `softmark check` does. `on_a_gpu` needs a
GPU and nothing else.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence

import torch
from given.step import NotYet
from torch import Tensor

MIB = 1 << 20


def peaks(
    function: Callable[..., Tensor], lengths: Sequence[int], d: int, training: bool, real_until: int = 4096
) -> dict[int, float]:
    """MiB at the peak, by length, for q, k and v (1, 1, n, d) in float32.

    Args:
        function: of q, k and v.
        lengths: each n.
        d: width of q, k and v.
        training: the backward pass belongs to it.
        real_until: beyond this length tensors are only imagined: fake ones have a shape, and no numbers.

    Raises:
        NotYet: when softmark is not installed here.
    """
    try:
        from autograder.worker.meters.measuring import measure
        from autograder.worker.protocol.messages import Measure, Measured, Target
    except ImportError:
        raise NotYet("Memory is measured by `softmark`, which this Python does not have: install it first.") from None
    found: dict[int, float] = {}
    gc.collect()
    gc.freeze()  # each measurement begins with a collection, which now passes over all that was there before
    try:
        for n in lengths:
            tensors = tuple((index, (1, 1, n, d), torch.float32) for index in range(3))
            request = Measure(Target("function"), (None,) * 3, tensors, grad=training, fake=n > real_until)
            result = measure(function, request, "")
            if isinstance(result, Measured):  # what branches on numbers does not run where there are none
                found[n] = result.peak / MIB
    finally:
        gc.unfreeze()
    return found


def on_a_gpu(
    function: Callable[..., Tensor], lengths: Sequence[int], d: int, training: bool
) -> tuple[dict[int, float], dict[int, float]]:
    """MiB at the peak and milliseconds, by length, on the GPU: up to the first length for which it has no memory left.

    Args:
        function: of q, k and v (1, 1, n, d) in float32.
        lengths: each n, rising.
        d: width of q, k and v.
        training: the backward pass belongs to it.

    Raises:
        NotYet: where torch finds no GPU.
    """
    if not torch.cuda.is_available():
        raise NotYet("This needs a GPU. On Colab: *Runtime*, *Change runtime type*, *GPU*, and run all cells again.")
    sizes: dict[int, float] = {}
    times: dict[int, float] = {}
    for n in lengths:
        try:
            q, k, v = (torch.randn(1, 1, n, d, device="cuda", requires_grad=training) for _ in range(3))

            def call(q: Tensor = q, k: Tensor = k, v: Tensor = v) -> None:
                result = function(q, k, v)
                if training:
                    torch.autograd.grad(result.sum(), (q, k, v))
                torch.cuda.synchronize()

            with torch.set_grad_enabled(training):
                call()  # the first call also loads kernels
                torch.cuda.reset_peak_memory_stats()
                before = torch.cuda.memory_allocated()
                start = time.perf_counter()
                call()
            times[n] = 1000 * (time.perf_counter() - start)
            sizes[n] = (torch.cuda.max_memory_allocated() - before) / MIB
        except torch.cuda.OutOfMemoryError:
            torch.cuda.empty_cache()
            break
    return sizes, times
