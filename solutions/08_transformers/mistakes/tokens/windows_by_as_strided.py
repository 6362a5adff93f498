"""`as_strided` is given the strides of a series that lies in memory in order; a transposed one has others."""

CAUGHT_BY = ["1.4h"]

import torch


def windows(series, length, stride):
    batch, times, channels = series.shape
    if times < length:
        raise ValueError("too short")
    count = (times - length) // stride + 1
    strides = (times * channels, stride * channels, 1)
    return torch.as_strided(series, (batch, count, length * channels), strides).clone()
