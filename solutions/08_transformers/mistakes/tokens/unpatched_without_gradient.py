"""The image is filled with numbers through .data, and no gradient flows back to the patches."""

CAUGHT_BY = ["1.4h"]

_unpatchify = unpatchify


def unpatchify(patches, patch, height, width):
    return _unpatchify(patches.data, patch, height, width)
