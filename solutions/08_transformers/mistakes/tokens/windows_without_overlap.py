"""Windows stand side by side; with a stride smaller than their length they overlap."""

CAUGHT_BY = ["1.4e"]

def windows(series, length, stride):
    b, t, c = series.shape
    if t < length:
        raise ValueError("too short")
    n = (t - length) // stride + 1
    cut = [series[:, i : i + length].flatten(1) for i in range(0, t - length + 1, length)]
    while len(cut) < n:
        cut.append(cut[-1])
    return torch.stack(cut[:n], 1)


import torch
