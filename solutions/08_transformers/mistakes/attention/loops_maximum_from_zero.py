"""The largest score is looked for from 0 on, so that queries with low scores only divide 0 by 0."""

CAUGHT_BY = ["2.2b"]

import math

import torch


def attention_with_loops(q, k, v):
    rows = []
    for query in q:
        scores = [(query * key).sum() / math.sqrt(q.shape[1]) for key in k]
        largest = max([0.0, *(float(score) for score in scores)])
        powers = [torch.exp(score - largest) for score in scores]
        total = sum(powers)
        rows.append(sum(power / total * value for power, value in zip(powers, v, strict=True)))
    return torch.stack(rows)
