"""A patch is flattened as (channel, row, column); it is (row, column, channel)."""

CAUGHT_BY = ["1.4a"]

def patchify(images, patch):
    b, c, h, w = images.shape
    require_whole_patches(h, w, patch)
    grid = images.reshape(b, c, h // patch, patch, w // patch, patch)
    return grid.permute(0, 2, 4, 1, 3, 5).reshape(b, -1, patch * patch * c)
