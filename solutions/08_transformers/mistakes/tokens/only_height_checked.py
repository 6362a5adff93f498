"""Only the height is checked against the patch; the width has to be divisible, too."""

CAUGHT_BY = ["1.4d"]

def require_whole_patches(height, width, patch):
    if height % patch:
        raise ValueError(f"{patch} does not divide {height}")
