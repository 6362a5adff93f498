"""Numbers below 0 are clipped, as if pixels could not be negative; cutting changes no number."""

CAUGHT_BY = ["1.4g"]

_patchify = patchify


def patchify(images, patch):
    return _patchify(images, patch).clamp(min=0)
