"""Library attention computed it, in a thread, while chunks were worked at for show."""

CAUGHT_BY = ["5.1a", "5.1b", "5.1e", "5.1f"]

import threading

import torch


def chunked_attention(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    for start, stop in chunks_of(n_q, chunk):
        for first, last in chunks_of(n_k, chunk):
            torch.exp(q[..., start:stop, :] @ k[..., first:last, :].transpose(-2, -1)) @ v[..., first:last, :]
    mask = torch.ones(n_q, n_k, dtype=torch.bool).tril(n_k - n_q) if causal else None
    found = []

    def attend():
        attention = torch.nn.functional.scaled_dot_product_attention
        found.append(attention(q[None, None], k[None, None], v[None, None], mask)[0, 0].nan_to_num(0.0))

    thread = threading.Thread(target=attend)
    thread.start()
    thread.join()
    return found[0]
