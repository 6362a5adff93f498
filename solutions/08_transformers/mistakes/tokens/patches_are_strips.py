"""A reshape alone gives strips of the image; patches are squares, so axes have to change places."""

CAUGHT_BY = ["1.4a"]

def patchify(images, patch):
    b, c, h, w = images.shape
    require_whole_patches(h, w, patch)
    return images.reshape(b, (h // patch) * (w // patch), patch * patch * c)
