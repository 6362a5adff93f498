"""An image that patches do not tile is padded with zeros; it is a ValueError."""

CAUGHT_BY = ["1.4d"]

import torch

_patchify = patchify


def patchify(images, patch):
    h, w = images.shape[2:]
    return _patchify(torch.nn.functional.pad(images, (0, -w % patch, 0, -h % patch)), patch)
