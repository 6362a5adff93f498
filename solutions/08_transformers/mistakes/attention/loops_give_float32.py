"""The result is made with torch.zeros, which is float32 whatever the arguments are."""

CAUGHT_BY = ["2.2b"]

import math

import torch


def attention_with_loops(q, k, v):
    out = torch.zeros(len(q), v.shape[1])
    for i in range(len(q)):
        scores = torch.stack([(q[i] * k[j]).sum() / math.sqrt(q.shape[1]) for j in range(len(k))])
        weights = softmax(scores, dim=0)
        for j in range(len(k)):
            out[i] += weights[j] * v[j]
    return out
