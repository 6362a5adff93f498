"""Blocks of 64 queries see their own block and the one before, so that a window wider than 65 is cut off."""

CAUGHT_BY = ["5.3b"]

import torch

of_any_width = sliding_window_attention


def sliding_window_attention(q, k, v, window):
    n, out = q.shape[-2], []
    for start in range(0, n, 64):
        first = max(0, start - 64)
        block = (..., slice(first, min(start + 64, n)), slice(None))
        out.append(of_any_width(q[block], k[block], v[block], window)[..., start - first :, :])
    return torch.cat(out, dim=-2) if window < n else of_any_width(q, k, v, window)
