"""How much memory one call takes at its peak, by the same model of an allocator that the checks use.

Nothing to write here. It follows every tensor from birth to death and counts bytes; a graphics card would need as much.
It needs the package `softmark`, as `softmark check` does.
"""

from __future__ import annotations

import gc
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
