"""Masks are written row by row, from numbers that are asked for one by one."""

import torch


def padding_mask(lengths, n):
    mask = torch.zeros(len(lengths), 1, n, dtype=torch.bool, device=lengths.device)
    for row, length in zip(mask, lengths.tolist(), strict=True):
        row[0, :length] = True
    return mask
