"""RoPE turns the whole width, so that only the first head gets the fast frequencies."""

CAUGHT_BY = ["6.2b", "6.3a"]

import torch
from torch.nn import functional as F


class SelfAttention(SelfAttention):
    def forward(self, x, mask=None, positions=None):
        positions = torch.arange(x.shape[-2]) if positions is None else positions
        q, k, v = (each(x).unflatten(-1, (self.heads, -1)).transpose(-3, -2) for each in (self.q_proj, self.k_proj, self.v_proj))
        if self.rotary:
            width = q.transpose(-3, -2).flatten(-2), k.transpose(-3, -2).flatten(-2)
            q, k = (rope(each, positions).unflatten(-1, (self.heads, -1)).transpose(-3, -2) for each in width)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out_proj(out.transpose(-3, -2).flatten(-2))
