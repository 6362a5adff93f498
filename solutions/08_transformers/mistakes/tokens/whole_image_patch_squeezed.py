"""An axis of length 1 is squeezed away: one patch is still a row of patches."""

CAUGHT_BY = ["1.4b"]

_patchify = patchify


def patchify(images, patch):
    patches = _patchify(images, patch)
    return patches.squeeze(1) if patches.shape[0] > 1 else patches
