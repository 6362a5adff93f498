"""The loop over keys ends one too early, so the last key is never looked at."""

CAUGHT_BY = ["2.2a"]

import math

import torch


def attention_with_loops(q, k, v):
    out = q.new_zeros(len(q), v.shape[1])
    for i in range(len(q)):
        scores = torch.stack([(q[i] * k[j]).sum() / math.sqrt(q.shape[1]) for j in range(max(len(k) - 1, 1))])
        weights = softmax(scores, dim=0)
        for j in range(max(len(k) - 1, 1)):
            out[i] += weights[j] * v[j]
    return out
