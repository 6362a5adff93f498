"""The output is made like the queries, though it is as wide as the values."""

CAUGHT_BY = ["5.1a"]

of_any_width = chunked_attention


def chunked_attention(q, k, v, chunk, causal=False):
    return torch.zeros_like(q) + of_any_width(q, k, v, chunk, causal)
