"""A series shorter than a window gives no windows; it is a ValueError."""

CAUGHT_BY = ["1.4f"]

_windows = windows


def windows(series, length, stride):
    if series.shape[1] < length:
        return series.new_zeros(len(series), 0, length * series.shape[2])
    return _windows(series, length, stride)
