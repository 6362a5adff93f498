"""Where there are more keys than queries the causal mask is made at once, n_q x n_k booleans, and then cut."""

CAUGHT_BY = ["5.1f"]

in_chunks = chunked_attention


def chunked_attention(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    if not causal or n_q == n_k:
        return in_chunks(q, k, v, chunk, causal)
    hidden = ~torch.ones(n_q, n_k, dtype=torch.bool, device=q.device).tril(n_k - n_q)
    return in_chunks(q, k, v, chunk, causal) + 0 * hidden.sum()
