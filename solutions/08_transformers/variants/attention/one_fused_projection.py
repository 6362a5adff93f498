"""The three projections are stacked into one product, whose result is cut up again."""

import torch
from torch.nn import functional as F


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, x, context=None, mask=None, positions=None):
        if self.rotary or context is not None or self.kv_heads != self.heads:
            return super().forward(x, context, mask, positions)
        weight = torch.cat([self.q_proj.weight, self.k_proj.weight, self.v_proj.weight])
        bias = torch.cat([self.q_proj.bias, self.k_proj.bias, self.v_proj.bias])
        *leading, n, d_model = x.shape
        fused = F.linear(x, weight, bias).view(*leading, n, 3, self.heads, d_model // self.heads)
        q, k, v = (part.movedim(-2, -3) for part in fused.unbind(-3))
        if mask is not None:
            mask = mask.broadcast_to(*leading, n, n).unsqueeze(-3)
        out, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.out_proj(out.movedim(-3, -2).reshape(*leading, n, d_model)), weights
