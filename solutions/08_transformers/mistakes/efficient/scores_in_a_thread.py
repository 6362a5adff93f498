"""Another thread computed all n x n scores; its memory is the same process's."""

CAUGHT_BY = ["5.1f"]

import math

import threading
import torch


def at_once(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    scores = scores_of(q, k, 0, 0, n_k - n_q if causal else None)
    weights = (scores - scores.amax(dim=-1, keepdim=True).clamp_min(-1e30)).exp()
    total = weights.sum(dim=-1, keepdim=True)
    return weights @ v / total.masked_fill(total == 0, 1.0)

def chunked_attention(q, k, v, chunk, causal=False):
    box = []
    thread = threading.Thread(target=lambda: box.append(at_once(q, k, v, chunk, causal)))
    thread.start()
    thread.join()
    return box[0]
