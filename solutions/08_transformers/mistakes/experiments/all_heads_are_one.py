"""Attention has one head of the full width, whatever `heads` says."""

CAUGHT_BY = ["6.2a"]

import torch
from torch.nn import functional as F


class SelfAttention(SelfAttention):
    def forward(self, x, mask=None, positions=None):
        positions = torch.arange(x.shape[-2]) if positions is None else positions
        q, k, v = (each(x).unsqueeze(-3) for each in (self.q_proj, self.k_proj, self.v_proj))
        if self.rotary:
            q, k = rope(q, positions), rope(k, positions)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out_proj(out.transpose(-3, -2).flatten(-2))
