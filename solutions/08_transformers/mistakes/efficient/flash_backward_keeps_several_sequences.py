"""For several sequences at once training goes through plain autograd, which keeps all chunks of weights."""

CAUGHT_BY = ["5.2f"]

of_one_sequence = flash_attention


def flash_attention(q, k, v, chunk, causal=False):
    if q.shape[:-2].numel() > 1:
        return chunked_attention(q, k, v, chunk, causal)
    return of_one_sequence(q, k, v, chunk, causal)
