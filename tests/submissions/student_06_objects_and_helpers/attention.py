import functools

import torch
from my_helpers import Heads, Scores, Softmax
from torch import nn

softmax = Softmax()


class Attention:
    softmax = staticmethod(softmax)

    @classmethod
    def call(cls, q, k, v, mask=None):
        weights = cls.softmax(Scores(q, k).under(mask), -1)
        if mask is not None:
            weights = weights * mask.to(weights.dtype)
        return weights @ v, weights

    @staticmethod
    def with_loops(q, k, v):
        def one(query):
            scores = torch.stack([Scores(query[None], key[None]).scaled.squeeze() for key in k])
            return functools.reduce(torch.add, (w * value for w, value in zip(softmax(scores, 0), v)))

        return torch.stack(list(map(one, q)))


attention_with_loops = Attention.with_loops
scaled_dot_product_attention = Attention.call
causal_mask = lambda n_q, n_k: torch.triu(torch.ones(n_q, n_k), n_k - n_q + 1) == 0
padding_mask = lambda lengths, n: torch.arange(n, device=lengths.device).view(1, 1, n).lt(lengths.view(-1, 1, 1))


class Base(nn.Module):
    def __init__(self, d_model, heads, kv_heads=None, rotary=False):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d_model, d_model) for _ in range(4))
        self.head = Heads(heads)


class MultiHeadAttention(Base):
    def forward(self, x, context=None, mask=None, positions=None):
        source = context if context is not None else x
        q, k, v = map(self.head.split, (self.q_proj(x), self.k_proj(source), self.v_proj(source)))
        if mask is not None:
            mask = mask.reshape(*mask.shape[:-2], 1, *mask.shape[-2:])
        out, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.out_proj(self.head.merge(out)), weights
