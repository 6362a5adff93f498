"""Causal attention is cut along the queries only: a chunk of queries has its scores with all of its keys at once."""

CAUGHT_BY = ["5.1f"]

in_chunks = chunked_attention


def chunked_attention(q, k, v, chunk, causal=False):
    if not causal:
        return in_chunks(q, k, v, chunk)
    n_q, n_k = q.shape[-2], k.shape[-2]
    out = [v.new_zeros(*q.shape[:-2], 0, v.shape[-1])]
    for start, stop in chunks_of(n_q, chunk):
        n_seen = last_key(stop - 1, n_q, n_k)
        out.append(attend_in_chunks(q[..., start:stop, :], k, v, max(n_seen, 1), start, n_k - n_q, n_seen)[0])
    return torch.cat(out, dim=-2)
