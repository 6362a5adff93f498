"""Windows end with the series and times at its beginning are dropped; those at the end are."""

CAUGHT_BY = ["1.4f"]

_windows = windows


def windows(series, length, stride):
    if series.shape[1] < length:
        raise ValueError("too short")
    return _windows(series[:, (series.shape[1] - length) % stride :], length, stride)
