"""Grouped heads get an axis of their own instead of repeated keys; kept tables make extra entries in state_dict."""

import torch
from torch import nn


class MultiHeadAttention(MultiHeadAttention):
    def __init__(self, d_model, heads, kv_heads=None, rotary=False):
        super().__init__(d_model, heads, kv_heads, rotary)
        self.register_buffer("scale_of_a_head", torch.tensor(float(d_model // heads) ** 0.5))
        self.dropout = nn.Dropout(0.0)

    def forward(self, x, context=None, mask=None, positions=None):
        if self.rotary:
            return super().forward(x, context, mask, positions)
        source = x if context is None else context
        *leading, n_q, d_model = x.shape
        n_k, d, group = source.shape[-2], d_model // self.heads, self.heads // self.kv_heads
        q = self.q_proj(x).reshape(*leading, n_q, self.kv_heads, group, d)
        k = self.k_proj(source).reshape(*leading, n_k, self.kv_heads, d)
        v = self.v_proj(source).reshape(*leading, n_k, self.kv_heads, d)
        scores = torch.einsum("...ihgd,...jhd->...hgij", q, k) / self.scale_of_a_head
        if mask is None:
            weights = softmax(scores, -1)
        else:
            mask = mask[..., None, None, :, :] if mask.dim() > 1 else mask
            weights = softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1) * mask
        out = torch.einsum("...hgij,...jhd->...ihgd", self.dropout(weights), v)
        return self.out_proj(out.reshape(*leading, n_q, d_model)), weights.reshape(*leading, self.heads, n_q, n_k)
