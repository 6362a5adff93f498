"""Operations in place halve the memory of n x n scores, and it grows with n squared as before."""

CAUGHT_BY = ["5.1e", "5.1f"]

import math

import torch


def chunked_attention(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    scores = q @ k.transpose(-2, -1)
    scores /= math.sqrt(q.shape[-1])
    if causal:
        for i in range(n_q):
            scores[..., i, last_key(i, n_q, n_k) :] = -math.inf
    scores -= scores.detach().amax(dim=-1, keepdim=True).clamp_min(-1e30)
    weights = scores.exp_() if not torch.is_grad_enabled() else scores.exp()
    total = weights.sum(dim=-1, keepdim=True)
    return weights @ v / total.masked_fill(total == 0, 1.0)
