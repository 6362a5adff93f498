"""Length and stride are exchanged."""

CAUGHT_BY = ["1.4e"]

_windows = windows


def windows(series, length, stride):
    return _windows(series, stride, length)
