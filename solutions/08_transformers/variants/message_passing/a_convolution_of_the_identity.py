"""The shifts are read off torch's own convolution of an identity matrix."""

import torch
import torch.nn.functional as F


def conv_weights(n, size, padding):
    if size < 1 or size % 2 == 0 or padding not in ("zeros", "circular"):
        raise ValueError(f"size {size}, padding {padding}")
    half = size // 2
    signals = torch.eye(n).unsqueeze(1)  # one signal for each position: (n, 1, n)
    if padding == "zeros":
        signals = F.pad(signals, (half, half))
    else:
        signals = signals[..., torch.arange(-half, n + half) % n]
    taps = torch.eye(size).unsqueeze(1)  # one kernel for each offset
    return F.conv1d(signals, taps).permute(1, 2, 0)


def conv2d_weights(height, width, padding):
    if padding not in ("zeros", "circular"):
        raise ValueError(padding)
    n = height * width
    images = torch.eye(n).reshape(n, 1, height, width)
    images = F.pad(images, (1, 1, 1, 1), mode="constant" if padding == "zeros" else "circular")
    return F.conv2d(images, torch.eye(9).reshape(9, 1, 3, 3)).flatten(2).permute(1, 2, 0)
