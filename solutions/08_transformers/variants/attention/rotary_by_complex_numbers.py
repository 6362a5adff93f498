"""A rotation is a product with a complex number; the cache of `step` is a dict that also counts."""

import torch


def rotate_pairs(x, positions, base=10000.0):
    if x.shape[-1] % 2:
        raise ValueError(f"an odd width, {x.shape[-1]}")
    half = x.shape[-1] // 2
    frequencies = torch.exp(-torch.log(torch.tensor(base)) * torch.arange(half) / half)
    angles = positions.unsqueeze(-1).float() * frequencies
    turned = torch.view_as_complex(x.float().unflatten(-1, (half, 2)).contiguous()) * torch.polar(
        torch.ones_like(angles), angles
    )
    return torch.view_as_real(turned).flatten(-2).to(x.dtype)


class MultiHeadAttention(MultiHeadAttention):
    def step(self, x, cache):
        cache = cache or {"x": x[..., :0, :], "count": torch.tensor(0)}
        seen = torch.cat([cache["x"], x], dim=-2)
        n = seen.shape[-2]
        out, _ = self.forward(seen, mask=causal_mask(n, n))
        return out[..., -1:, :], {"x": seen, "count": cache["count"] + 1}
