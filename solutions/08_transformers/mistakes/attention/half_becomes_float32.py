"""Half precision comes in and float32 goes out: convert the results back to the dtype of the arguments."""

CAUGHT_BY = ["2.3g"]

import math

import torch


def scaled_dot_product_attention(q, k, v, mask=None):
    if q.dtype in (torch.float16, torch.bfloat16):
        q, k, v = q.float(), k.float(), v.float()
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is None:
        weights = softmax(scores, dim=-1)
    else:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = softmax(scores, dim=-1).masked_fill(~mask, 0.0)
    return weights @ v, weights
