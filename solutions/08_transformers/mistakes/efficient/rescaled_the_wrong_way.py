"""The old sums are relative to the old maximum: they are multiplied by exp(old - new), not by exp(new - old)."""

CAUGHT_BY = ["5.1a"]

import math

import torch


def attend_in_chunks(
    q: Tensor, k: Tensor, v: Tensor, chunk: int, first_query: int, offset: int | None, n_seen: int
) -> tuple[Tensor, Tensor]:
    largest = q.new_full((*q.shape[:-1], 1), -math.inf)
    total = torch.zeros_like(largest)
    out = v.new_zeros(*q.shape[:-1], v.shape[-1])
    for start, stop in chunks_of(n_seen, chunk):
        scores = scores_of(q, k[..., start:stop, :], first_query, start, offset)
        # The result does not depend on which number is taken off, so no gradient flows through it.
        new_largest = torch.maximum(largest, scores.detach().amax(dim=-1, keepdim=True))
        shift = new_largest.masked_fill(new_largest == -math.inf, 0.0)  # -inf - (-inf) would be NaN
        weights = (scores - shift).exp()
        rescale = (shift - largest.masked_fill(largest == -math.inf, 0.0)).exp()  # what was summed so far was relative to the old maximum
        total = total * rescale + weights.sum(dim=-1, keepdim=True)
        out = out * rescale + weights @ v[..., start:stop, :]
        largest = new_largest
    nothing = total == 0
    out = out / total.masked_fill(nothing, 1.0)
    return out, (largest + total.log()).masked_fill(nothing, math.inf)
