"""Sizes that do not fit are left to reshape, which raises RuntimeError; the handout asks for ValueError."""

CAUGHT_BY = ["1.4d"]

def require_whole_patches(height, width, patch):
    pass
