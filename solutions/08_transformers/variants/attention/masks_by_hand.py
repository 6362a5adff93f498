"""Masks from loops and comparisons; softmax moves its axis to the end and back."""

import torch


def softmax(x, dim):
    rows = x.movedim(dim, -1)
    shape = rows.shape
    rows = rows.reshape(-1, shape[-1])
    powers = torch.stack([torch.exp(row - max(row.detach())) for row in rows])
    return (powers / powers.sum(1, keepdim=True)).reshape(shape).movedim(-1, dim)


def causal_mask(n_q, n_k):
    mask = torch.zeros((n_q, n_k), dtype=torch.bool)
    for i in range(n_q):
        for j in range(n_k):
            mask[i, j] = n_k - j >= n_q - i
    return mask


def padding_mask(lengths, n):
    mask = torch.zeros(len(lengths), 1, n).bool()
    for b, length in enumerate(lengths.tolist()):
        mask[b, :, :length] = True
    return mask
