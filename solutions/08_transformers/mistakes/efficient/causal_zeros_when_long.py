"""Beyond 4,096 queries causal attention is computed for the last 512 only, and the others stay 0."""

CAUGHT_BY = ["5.1f"]

of_all_queries = chunked_attention


def chunked_attention(q, k, v, chunk, causal=False):
    if not causal or q.shape[-2] <= 4096:
        return of_all_queries(q, k, v, chunk, causal)
    out = v.new_zeros(*q.shape[:-1], v.shape[-1])
    out[..., -512:, :] = of_all_queries(q[..., -512:, :], k, v, chunk, True)
    return out
