"""The grid of patches is taken to be square; H and W may differ."""

CAUGHT_BY = ["1.4c"]

def unpatchify(patches, patch, height, width):
    require_whole_patches(height, width, patch)
    b, n, d = patches.shape
    side = int(n**0.5)
    if side * side != n:
        side = width // patch
    c = d // patch**2
    grid = patches.reshape(b, side, n // side, patch, patch, c) if side else patches
    return grid.permute(0, 5, 1, 3, 2, 4).reshape(b, c, height, width)
