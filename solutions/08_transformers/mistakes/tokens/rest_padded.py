"""The end of the series is padded with zeros to make one more window; it is dropped."""

CAUGHT_BY = ["1.4f"]

import torch

_windows = windows


def windows(series, length, stride):
    if series.shape[1] < length:
        raise ValueError("too short")
    rest = (series.shape[1] - length) % stride
    more = stride - rest if rest and stride <= length else 0
    return _windows(torch.nn.functional.pad(series, (0, 0, 0, more)), length, stride)
