"""Windows come out in float32 whatever the series was; keep its dtype."""

CAUGHT_BY = ["1.4f"]

_windows = windows


def windows(series, length, stride):
    return _windows(series.float(), length, stride)
