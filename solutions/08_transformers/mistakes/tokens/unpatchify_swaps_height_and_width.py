"""Height and width are exchanged in putting the patches together."""

CAUGHT_BY = ["1.4c"]

def unpatchify(patches, patch, height, width):
    require_whole_patches(height, width, patch)
    b, _, d = patches.shape
    c = d // patch**2
    grid = patches.reshape(b, width // patch, height // patch, patch, patch, c)
    return grid.permute(0, 5, 1, 3, 2, 4).reshape(b, c, height, width)
