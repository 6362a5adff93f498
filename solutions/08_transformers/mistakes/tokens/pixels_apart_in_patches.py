"""Each patch takes every so-many-th pixel (h = p1 * rows + ...); a patch is a square of neighbours."""

CAUGHT_BY = ["1.4a"]

def patchify(images, patch):
    b, c, h, w = images.shape
    require_whole_patches(h, w, patch)
    grid = images.reshape(b, c, patch, h // patch, patch, w // patch)
    return grid.permute(0, 3, 5, 2, 4, 1).reshape(b, -1, patch * patch * c)
