"""With one key the values are returned at once, so that no gradient reaches queries and keys: it is 0, and not missing."""

CAUGHT_BY = ["5.1d"]

in_chunks = chunked_attention


def chunked_attention(q, k, v, chunk, causal=False):
    if k.shape[-2] == 1 and q.shape[-2] == 1:
        return v.clone()
    return in_chunks(q, k, v, chunk, causal)
