"""`q /= ...` divides the queries of the caller as well."""

CAUGHT_BY = ["2.2b"]

import math

import torch


def attention_with_loops(q, k, v):
    with torch.no_grad():
        q /= math.sqrt(q.shape[1])
    out = []
    for i in range(len(q)):
        weights = softmax(torch.stack([q[i] @ k[j] for j in range(len(k))]), dim=0)
        out.append(sum(weights[j] * v[j] for j in range(len(k))))
    return torch.stack(out)
