"""Patches have their mean taken off in place, which changes the image; cutting changes no number."""

CAUGHT_BY = ["1.4g"]

_patchify = patchify


def patchify(images, patch):
    patches = _patchify(images, patch)
    images -= images.mean() - images.mean()
    images[images > 1e4] = 0
    images.mul_(1.0).clamp_(-1.5, 1e6)
    return patches
