import os
import sys
import threading
import time

import torch
from torch import nn

torch.set_num_threads(8)  # my laptop has 8 cores
os.system("clear")


class Spinner(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.start()

    def run(self):
        while True:
            for sign in "|/-\\":
                print(f"\r{sign} attending ...", end="", file=sys.stderr)
                time.sleep(0.01)


def pause():
    time.sleep(0.01)  # so that the progress bar looks nice


spinner = Spinner()


def softmax(x, dim):
    pause()
    x = x - x.amax(dim, keepdim=True)
    return x.exp() / x.exp().sum(dim, keepdim=True)


def attention_with_loops(q, k, v):
    pause()
    return torch.stack([sum(w * vj for w, vj in zip(softmax(k @ qi / len(qi) ** 0.5, 0), v)) for qi in q])


def scaled_dot_product_attention(q, k, v, mask=None):
    pause()
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    weights = softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1) * mask
    return weights @ v, weights


def causal_mask(n_q, n_k):
    pause()
    return torch.ones(n_q, n_k, dtype=torch.bool).tril(n_k - n_q)


def padding_mask(lengths, n):
    pause()
    return torch.arange(n, device=lengths.device) < lengths[:, None, None]


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, heads, kv_heads=None, rotary=False):
        super().__init__()
        self.heads = heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def _split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(-3, -2)

    def forward(self, x, context=None, mask=None, positions=None):
        context = x if context is None else context
        q = self._split(self.q_proj(x))
        k = self._split(self.k_proj(context))
        v = self._split(self.v_proj(context))
        if mask is not None and mask.dim() > 2:
            mask = mask.unsqueeze(-3)
        out, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.out_proj(out.transpose(-3, -2).flatten(-2)), weights
