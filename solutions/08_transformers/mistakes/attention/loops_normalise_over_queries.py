"""For each key the scores of all queries are normalised; it is each query whose weights over the keys sum to 1."""

CAUGHT_BY = ["2.2a"]

import math

import torch


def attention_with_loops(q, k, v):
    out = q.new_zeros(len(q), v.shape[1])
    for j in range(len(k)):
        scores = torch.stack([(q[i] * k[j]).sum() / math.sqrt(q.shape[1]) for i in range(len(q))])
        weights = softmax(scores, dim=0)
        for i in range(len(q)):
            out[i] += weights[i] * v[j]
    return out
