"""A stride beyond the length is cut to the length; it leaves gaps."""

CAUGHT_BY = ["1.4f"]

_windows = windows


def windows(series, length, stride):
    return _windows(series, length, min(stride, length))
