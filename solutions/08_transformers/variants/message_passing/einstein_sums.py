"""One einsum for the operator, one for the scores; shifts by comparing all pairs of places."""

import torch


def aggregate(x, weights, values=None):
    if values is None:
        return torch.einsum("...hij,...jd->...id", weights, x)
    return torch.einsum("...hij,...jd,hde->...ie", weights, x, values)


def mlp_weights(W):
    return W[None]


def conv_weights(n, size, padding):
    if size % 2 != 1 or padding not in ("zeros", "circular"):
        raise ValueError(f"no kernel of size {size} with padding {padding}")
    h, i, j = torch.meshgrid(torch.arange(size), torch.arange(n), torch.arange(n), indexing="ij")
    ahead = j - i - h + size // 2
    if padding == "circular":
        ahead = ahead.remainder(n)
    return torch.where(ahead == 0, 1.0, 0.0)


def attention_weights(q, k):
    scores = torch.einsum("...id,...jd->...ij", q, k) * q.shape[-1] ** -0.5
    return scores.softmax(-1)
