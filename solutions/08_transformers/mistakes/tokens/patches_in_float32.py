"""Patches come out in float32 whatever the image was; keep its dtype."""

CAUGHT_BY = ["1.4b"]

_patchify = patchify


def patchify(images, patch):
    return _patchify(images, patch).float()
