"""Images are read as (B, H, W, C); they are (B, C, H, W)."""

CAUGHT_BY = ["1.4a"]

_patchify = patchify


def patchify(images, patch):
    b, c, h, w = images.shape
    require_whole_patches(h, w, patch)
    return _patchify(images.reshape(b, h, w, c).permute(0, 3, 1, 2), patch)
