"""Windows keep their axes of time and measurements; they are flattened to one."""

CAUGHT_BY = ["1.4e"]

def windows(series, length, stride):
    if series.shape[1] < length:
        raise ValueError("too short")
    return series.unfold(1, length, stride).transpose(2, 3)
