"""Heads are split, repeated and merged with einops."""

from einops import rearrange, repeat


class MultiHeadAttention(MultiHeadAttention):
    def forward(self, x, context=None, mask=None, positions=None):
        if self.rotary:
            return super().forward(x, context, mask, positions)
        source = x if context is None else context
        q = rearrange(self.q_proj(x), "... n (h d) -> ... h n d", h=self.heads)
        k = rearrange(self.k_proj(source), "... n (h d) -> ... h n d", h=self.kv_heads)
        v = rearrange(self.v_proj(source), "... n (h d) -> ... h n d", h=self.kv_heads)
        group = self.heads // self.kv_heads
        k, v = (repeat(y, "... h n d -> ... (h g) n d", g=group) for y in (k, v))
        if mask is not None and mask.dim() >= 3:
            mask = rearrange(mask, "... q k -> ... 1 q k")
        out, weights = scaled_dot_product_attention(q, k, v, mask)
        return self.out_proj(rearrange(out, "... h n d -> ... n (h d)")), weights
