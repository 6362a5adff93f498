"""Patches are read as (channel, row, column); they are (row, column, channel)."""

CAUGHT_BY = ["1.4c"]

def unpatchify(patches, patch, height, width):
    require_whole_patches(height, width, patch)
    b, _, d = patches.shape
    c = d // patch**2
    grid = patches.reshape(b, height // patch, width // patch, c, patch, patch)
    return grid.permute(0, 3, 1, 4, 2, 5).reshape(b, c, height, width)
