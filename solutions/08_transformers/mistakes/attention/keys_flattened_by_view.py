"""`view` needs numbers that lie side by side: it fails on heads that were split off by a transpose. Use reshape."""

CAUGHT_BY = ["2.3i"]

with_any_layout = scaled_dot_product_attention


def scaled_dot_product_attention(q, k, v, mask=None):
    return with_any_layout(q, k.view(-1, *k.shape[-2:]).view(k.shape), v, mask)
