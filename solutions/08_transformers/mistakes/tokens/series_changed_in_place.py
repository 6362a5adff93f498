"""The series is normalised in place; the caller's numbers stay as they are."""

CAUGHT_BY = ["1.4g"]

_windows = windows


def windows(series, length, stride):
    cut = _windows(series, length, stride).clone()
    series -= series.mean()
    return cut
