"""Where the queries need no gradients nothing gets any: keys and values may learn without them."""

CAUGHT_BY = ["5.2g"]

for_all = flash_attention


def flash_attention(q, k, v, chunk, causal=False):
    out = for_all(q, k, v, chunk, causal)
    return out if q.requires_grad or not torch.is_grad_enabled() else out.detach()
