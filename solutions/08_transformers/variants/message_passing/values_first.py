"""Tokens are mapped before they are gathered, and all heads are one wide matrix product."""

import torch


def aggregate(x, weights, values=None):
    heads, n = weights.shape[-3], weights.shape[-1]
    if values is None:
        mapped = x.unsqueeze(-3).expand(*x.shape[:-2], heads, *x.shape[-2:])
    else:
        mapped = torch.matmul(x.unsqueeze(-3), values)
    stacked = mapped.flatten(-3, -2)  # (..., heads * n, d_out)
    wide = weights.transpose(-3, -2).flatten(-2)  # (..., n, heads * n)
    return wide @ stacked


def attention_weights(q, k):
    width = q.size(-1)
    logits = torch.matmul(q * width**-0.25, (k * width**-0.25).mT)
    return torch.log_softmax(logits, dim=-1).exp()
