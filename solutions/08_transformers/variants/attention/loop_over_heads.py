"""One head after the other, each with its slices of the projections; slices of out_proj are summed instead of concatenating."""

import torch


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, x, context=None, mask=None, positions=None):
        if self.rotary and context is not None:
            raise ValueError("no positions for a context")
        source = x if context is None else context
        d = self.q_proj.out_features // self.heads
        if self.rotary and positions is None:
            positions = torch.arange(x.shape[-2])
        if self.rotary and positions.dim() == 3:
            positions = positions.squeeze(1)
        total, maps = self.out_proj.bias, []
        for h in range(self.heads):
            g = h // (self.heads // self.kv_heads)
            mine, shared = slice(h * d, (h + 1) * d), slice(g * d, (g + 1) * d)
            q = x @ self.q_proj.weight[mine].T + self.q_proj.bias[mine]
            k = source @ self.k_proj.weight[shared].T + self.k_proj.bias[shared]
            v = source @ self.v_proj.weight[shared].T + self.v_proj.bias[shared]
            if self.rotary:
                q, k = rotate_pairs(q, positions), rotate_pairs(k, positions)
            out, weights = scaled_dot_product_attention(q, k, v, mask)
            total = total + out @ self.out_proj.weight[:, mine].T
            maps.append(weights)
        return total, torch.stack(maps, dim=-3)
