"""The cache keeps the newest key and value only, so the token sees at most one other."""

CAUGHT_BY = ["2.6c"]

import torch


class MultiHeadAttention(MultiHeadAttention):
    def step(self, x, cache):
        q = split_heads(self.q_proj(x), self.heads)
        k = split_heads(self.k_proj(x), self.kv_heads)
        v = split_heads(self.v_proj(x), self.kv_heads)
        if self.rotary:
            earlier = 0 if cache is None else cache[0].shape[-2]
            positions = torch.arange(earlier, earlier + x.shape[-2], device=x.device)
            q, k = rotate_pairs(q, positions), rotate_pairs(k, positions)
        if cache is not None:
            k, v = torch.cat((cache[0], k), dim=-2), torch.cat((cache[1], v), dim=-2)
        group = self.heads // self.kv_heads
        mask = causal_mask(q.shape[-2], k.shape[-2]).to(x.device)
        out, _ = scaled_dot_product_attention(
            q, k.repeat_interleave(group, dim=-3), v.repeat_interleave(group, dim=-3), mask
        )
        return self.out_proj(merge_heads(out)), (k[..., -1:, :], v[..., -1:, :])
