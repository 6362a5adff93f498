"""What no whole patch covers is cropped in silence; it is a ValueError."""

CAUGHT_BY = ["1.4d"]

_patchify = patchify


def patchify(images, patch):
    h, w = images.shape[2:]
    return _patchify(images[:, :, : h - h % patch, : w - w % patch], patch)
