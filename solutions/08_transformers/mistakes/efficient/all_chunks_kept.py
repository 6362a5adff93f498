"""The scores of every chunk were kept in a list until the totals were known: together they are n x n."""

CAUGHT_BY = ["5.1e", "5.1f"]

import math

import torch


def chunked_attention(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    offset = n_k - n_q if causal else None
    scores = {
        (i, j): scores_of(q[..., i : i + chunk, :], k[..., j : j + chunk, :], i, j, offset)
        for i in range(0, n_q, chunk)
        for j in range(0, n_k, chunk)
    }
    out = [v.new_zeros(*q.shape[:-2], 0, v.shape[-1])]
    for i in range(0, n_q, chunk):
        row = [scores[i, j] for j in range(0, n_k, chunk)]
        largest = torch.stack([part.amax(dim=-1, keepdim=True) for part in row]).amax(dim=0).clamp_min(-1e30)
        total = sum((part - largest).exp().sum(dim=-1, keepdim=True) for part in row)
        mixed = sum((part - largest).exp() @ v[..., j : j + chunk, :] for j, part in zip(range(0, n_k, chunk), row))
        out.append(mixed / total.masked_fill(total == 0, 1.0))
    return torch.cat(out, dim=-2)
