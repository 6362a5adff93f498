"""Several sequences are computed by all n x n scores at once; only one sequence is computed in chunks."""

CAUGHT_BY = ["5.1f"]

in_chunks = chunked_attention


def chunked_attention(q, k, v, chunk, causal=False):
    several = q.shape[:-2].numel() > 1
    return in_chunks(q, k, v, max(q.shape[-2], k.shape[-2]) if several else chunk, causal)
