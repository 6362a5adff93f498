"""Patches by torch.nn.functional.unfold and back by fold."""

import torch.nn.functional as F


def patchify(images, patch):
    b, c, h, w = images.shape
    if h % patch != 0 or w % patch != 0:
        raise ValueError("patch must divide H and W")
    columns = F.unfold(images, kernel_size=patch, stride=patch)
    n = columns.shape[-1]
    return columns.view(b, c, patch * patch, n).permute(0, 3, 2, 1).reshape(b, n, -1)


def unpatchify(patches, patch, height, width):
    if height % patch or width % patch:
        raise ValueError("patch must divide height and width")
    b, n, d = patches.shape
    columns = patches.view(b, n, patch * patch, -1).permute(0, 3, 2, 1).reshape(b, d, n)
    return F.fold(columns, (height, width), kernel_size=patch, stride=patch)
