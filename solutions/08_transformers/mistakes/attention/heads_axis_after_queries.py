"""The weights come back as (..., n_q, heads, n_k); the heads stand before the queries."""

CAUGHT_BY = ["2.5d"]


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, x, context=None, mask=None, positions=None):
        if self.rotary and context is not None:
            raise ValueError("rotary attention relates positions of one sequence; a context has none in it")
        source = x if context is None else context
        q = split_heads(self.q_proj(x), self.heads)
        k = split_heads(self.k_proj(source), self.kv_heads)
        v = split_heads(self.v_proj(source), self.kv_heads)
        if self.rotary:
            positions = torch.arange(x.shape[-2], device=x.device) if positions is None else positions
            q, k = rotate_pairs(q, positions), rotate_pairs(k, positions)
        if mask is not None and mask.dim() > 2:
            mask = mask.unsqueeze(-3)  # the same for every head
        group = self.heads // self.kv_heads
        k, v = k.repeat_interleave(group, dim=-3), v.repeat_interleave(group, dim=-3)
        out, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.out_proj(merge_heads(out)), weights.transpose(-3, -2)
