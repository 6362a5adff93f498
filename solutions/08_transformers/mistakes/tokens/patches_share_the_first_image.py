"""Every image of the batch is cut like the first one."""

CAUGHT_BY = ["1.4a"]

_patchify = patchify


def patchify(images, patch):
    return _patchify(images[:1].expand_as(images), patch)
