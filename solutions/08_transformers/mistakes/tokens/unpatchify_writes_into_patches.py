"""The patches given are overwritten; the caller's numbers stay as they are."""

CAUGHT_BY = ["1.4g"]

_unpatchify = unpatchify


def unpatchify(patches, patch, height, width):
    images = _unpatchify(patches, patch, height, width).clone()
    patches.zero_()
    return images
