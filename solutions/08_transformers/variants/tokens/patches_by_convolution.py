"""Patches by a convolution with one-hot kernels; windows by gathering indices."""

import torch
import torch.nn.functional as F


def patchify(images, patch):
    b, c, h, w = images.shape
    if h % patch or w % patch:
        raise ValueError("the patch does not fit")
    size = patch * patch * c
    kernel = torch.eye(size, dtype=images.dtype).view(size, patch, patch, c).permute(0, 3, 1, 2)
    return F.conv2d(images, kernel, stride=patch).flatten(2).transpose(1, 2)


def windows(series, length, stride):
    t = series.size(1)
    if length > t:
        raise ValueError("no window fits")
    starts = torch.arange(0, t - length + 1, stride)
    places = starts[:, None] + torch.arange(length)
    return series[:, places].flatten(-2)
