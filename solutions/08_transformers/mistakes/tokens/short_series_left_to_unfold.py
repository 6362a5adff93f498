"""A series shorter than a window is left to unfold, which raises RuntimeError; the handout asks for ValueError."""

CAUGHT_BY = ["1.4f"]

def windows(series, length, stride):
    return series.unfold(1, length, stride).transpose(2, 3).flatten(2)
