"""With one query the result loses an axis; it must be (1, d_v)."""

CAUGHT_BY = ["2.2a"]

import math

import torch


def attention_with_loops(q, k, v):
    out = q.new_zeros(len(q), v.shape[1])
    for i in range(len(q)):
        scores = torch.stack([(q[i] * k[j]).sum() / math.sqrt(q.shape[1]) for j in range(len(k))])
        weights = softmax(scores, dim=0)
        for j in range(len(k)):
            out[i] += weights[j] * v[j]
    return out.squeeze(0)
