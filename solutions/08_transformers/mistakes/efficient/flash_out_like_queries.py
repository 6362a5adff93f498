"""The output is made like the queries, though it is as wide as the values."""

CAUGHT_BY = ["5.2a", "5.2b"]

of_any_width = flash_attention


def flash_attention(q, k, v, chunk, causal=False):
    out = torch.zeros_like(q)
    out = out + of_any_width(q, k, v, chunk, causal)
    return out
