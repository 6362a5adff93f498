"""The last full window is left out: there are (T - length) // stride + 1."""

CAUGHT_BY = ["1.4e"]

import torch


def windows(series, length, stride):
    t = series.shape[1]
    if t < length:
        raise ValueError("too short")
    cut = [series[:, i : i + length].flatten(1) for i in range(0, t - length, stride)]
    return torch.stack(cut, 1) if cut else series.new_zeros(len(series), 0, length * series.shape[2])
