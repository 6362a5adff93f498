"""A reshape alone puts the patches side by side as strips; axes have to change places back."""

CAUGHT_BY = ["1.4c"]

def unpatchify(patches, patch, height, width):
    require_whole_patches(height, width, patch)
    return patches.reshape(patches.shape[0], -1, height, width)
