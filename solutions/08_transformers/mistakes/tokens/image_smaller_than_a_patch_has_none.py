"""An image that is smaller than a patch gives no patches, where it must be a ValueError."""

CAUGHT_BY = ["1.4d"]

_patchify = patchify


def patchify(images, patch):
    batch, channels, height, width = images.shape
    if patch > height or patch > width:
        return images.new_zeros(batch, 0, patch * patch * channels)
    return _patchify(images, patch)
