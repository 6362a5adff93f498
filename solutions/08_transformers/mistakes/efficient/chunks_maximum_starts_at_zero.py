"""In chunked_attention the largest score so far begins at minus infinity: with 0, scores that are all far below 0 give weights that are all 0."""

CAUGHT_BY = ["5.1c"]

import math

import torch


def attend_from_zero(
    q: Tensor, k: Tensor, v: Tensor, chunk: int, first_query: int, offset: int | None, n_seen: int
) -> tuple[Tensor, Tensor]:
    largest = q.new_zeros((*q.shape[:-1], 1))
    total = torch.zeros_like(largest)
    out = v.new_zeros(*q.shape[:-1], v.shape[-1])
    for start, stop in chunks_of(n_seen, chunk):
        scores = scores_of(q, k[..., start:stop, :], first_query, start, offset)
        # The result does not depend on which number is taken off, so no gradient flows through it.
        new_largest = torch.maximum(largest, scores.detach().amax(dim=-1, keepdim=True))
        shift = new_largest.masked_fill(new_largest == -math.inf, 0.0)  # -inf - (-inf) would be NaN
        weights = (scores - shift).exp()
        rescale = (largest - shift).exp()  # what was summed so far was relative to the old maximum
        total = total * rescale + weights.sum(dim=-1, keepdim=True)
        out = out * rescale + weights @ v[..., start:stop, :]
        largest = new_largest
    nothing = total == 0
    out = out / total.masked_fill(nothing, 1.0)
    return out, (largest + total.log()).masked_fill(nothing, math.inf)

def chunked_attention(q: Tensor, k: Tensor, v: Tensor, chunk: int, causal: bool = False) -> Tensor:
    n_q, n_k = q.shape[-2], k.shape[-2]
    out = [v.new_zeros(*q.shape[:-2], 0, v.shape[-1])]  # so that no query at all is no special case
    for start, stop in chunks_of(n_q, chunk):
        n_seen = last_key(stop - 1, n_q, n_k) if causal else n_k
        offset = n_k - n_q if causal else None
        out.append(attend_from_zero(q[..., start:stop, :], k, v, chunk, start, offset, n_seen)[0])
    return torch.cat(out, dim=-2)
