"""All leading axes are flattened into one, and torch.baddbmm scales and multiplies."""

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    leading = q.shape[:-2]
    n_q, n_k = q.shape[-2], k.shape[-2]
    q, k, v = (x.reshape(-1, *x.shape[-2:]) for x in (q, k, v))
    scores = torch.baddbmm(q.new_zeros(1, 1, 1), q, k.transpose(1, 2), beta=0, alpha=1 / math.sqrt(k.shape[-1]))
    if mask is not None:
        mask = mask.broadcast_to(*leading, n_q, n_k).reshape(scores.shape)
        scores = scores.masked_fill(~mask, -torch.inf)
        scores = scores.masked_fill(~mask.any(-1, keepdim=True), 0.0)
    weights = softmax(scores, 2)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    return torch.bmm(weights, v).view(*leading, n_q, -1), weights.view(*leading, n_q, n_k)
