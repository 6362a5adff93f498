"""Chunks are used under `no_grad` only; anybody else gets all n x n scores at once."""

CAUGHT_BY = ["5.1e", "5.1f"]

in_chunks = chunked_attention


def chunked_attention(q, k, v, chunk, causal=False):
    return in_chunks(q, k, v, max(q.shape[-2], k.shape[-2]) if torch.is_grad_enabled() else chunk, causal)
