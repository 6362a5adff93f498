"""Patches come column by column; they come row by row."""

CAUGHT_BY = ["1.4a"]

def patchify(images, patch):
    b, c, h, w = images.shape
    require_whole_patches(h, w, patch)
    grid = images.reshape(b, c, h // patch, patch, w // patch, patch)
    return grid.permute(0, 4, 2, 3, 5, 1).reshape(b, -1, patch * patch * c)
