"""At the beginning of each block of 1,024 queries the keys before the block are forgotten."""

CAUGHT_BY = ["5.3d"]

import torch

in_one_block = sliding_window_attention


def sliding_window_attention(q, k, v, window):
    parts = [in_one_block(q[..., i : i + 1024, :], k[..., i : i + 1024, :], v[..., i : i + 1024, :], window) for i in range(0, q.shape[-2], 1024)]
    return torch.cat(parts, dim=-2)
