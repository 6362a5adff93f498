"""Rows one by one, keys picked by the mask, so that a masked key is never touched."""

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    leading = torch.broadcast_shapes(q.shape[:-2], k.shape[:-2])
    n_q, n_k = q.shape[-2], k.shape[-2]
    if mask is None:
        mask = torch.ones(n_k, dtype=torch.bool, device=q.device)
    mask = mask.expand(*leading, n_q, n_k).reshape(-1, n_q, n_k)
    out, weights = [], []
    for queries, keys, values, rows in zip(
        q.reshape(-1, *q.shape[-2:]), k.reshape(-1, *k.shape[-2:]), v.reshape(-1, *v.shape[-2:]), mask
    ):
        for query, row in zip(queries, rows):
            seen = row.nonzero().flatten()
            weight = torch.zeros(n_k, dtype=q.dtype, device=q.device)
            if len(seen):
                weight = weight.index_put((seen,), softmax(keys[seen] @ query / math.sqrt(len(query)), 0))
            weights.append(weight)
            out.append(weight @ values)
    return torch.stack(out).reshape(*leading, n_q, -1), torch.stack(weights).reshape(*leading, n_q, n_k)
