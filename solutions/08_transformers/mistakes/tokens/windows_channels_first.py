"""A window is flattened as (channel, time), as unfold leaves it; it is (time, channel)."""

CAUGHT_BY = ["1.4e"]

def windows(series, length, stride):
    if series.shape[1] < length:
        raise ValueError("too short")
    return series.unfold(1, length, stride).flatten(2)
