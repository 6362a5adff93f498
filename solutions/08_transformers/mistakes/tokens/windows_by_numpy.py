"""Windows are cut by numpy, through which no gradient flows."""

CAUGHT_BY = ["1.4h"]

_windows = windows


def windows(series, length, stride):
    return _windows(series.detach().clone(), length, stride)
