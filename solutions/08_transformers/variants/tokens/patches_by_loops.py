"""Patches, their inverse and windows by loops and slices."""

import torch


def patchify(images, patch):
    b, c, h, w = images.shape
    if h % patch or w % patch:
        raise ValueError(f"{h} x {w} into {patch}")
    out = []
    for top in range(0, h, patch):
        for left in range(0, w, patch):
            out.append(images[:, :, top : top + patch, left : left + patch].movedim(1, -1).flatten(1))
    return torch.stack(out, dim=1)


def unpatchify(patches, patch, height, width):
    if height % patch or width % patch:
        raise ValueError(f"{height} x {width} into {patch}")
    b, n, d = patches.shape
    c = d // (patch * patch)
    images = torch.empty(b, c, height, width, dtype=patches.dtype)
    for k in range(n):
        top, left = divmod(k, width // patch)
        square = patches[:, k].view(b, patch, patch, c).movedim(-1, 1)
        images[:, :, top * patch : (top + 1) * patch, left * patch : (left + 1) * patch] = square
    return images


def windows(series, length, stride):
    b, t, c = series.shape
    if t < length:
        raise ValueError("series too short")
    count = (t - length) // stride + 1
    return torch.cat([series[:, i * stride : i * stride + length].reshape(b, 1, length * c) for i in range(count)], 1)
