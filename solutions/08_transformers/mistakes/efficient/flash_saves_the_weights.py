"""The forward pass saved all n x n weights for the backward pass: save a number a query and compute them again."""

CAUGHT_BY = ["5.2e", "5.2f"]

import math

import torch


class FlashAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, chunk, causal):
        n_q, n_k = q.shape[-2], k.shape[-2]
        scores = scores_of(q, k, 0, 0, n_k - n_q if causal else None)
        weights = (scores - scores.amax(dim=-1, keepdim=True).clamp_min(-1e30)).exp()
        total = weights.sum(dim=-1, keepdim=True)
        weights = weights / total.masked_fill(total == 0, 1.0)
        ctx.save_for_backward(q, k, v, weights)
        return weights @ v

    @staticmethod
    def backward(ctx, grad_out):
        q, k, v, weights = ctx.saved_tensors
        grad_weights = grad_out @ v.transpose(-2, -1)
        row_sum = (weights * grad_weights).sum(dim=-1, keepdim=True)
        grad_scores = weights * (grad_weights - row_sum) / math.sqrt(q.shape[-1])
        return grad_scores @ k, grad_scores.transpose(-2, -1) @ q, weights.transpose(-2, -1) @ grad_out, None, None
