"""A submission that prints, warns, seeds and has a main guard, and is right all the same."""

import warnings

import torch

torch.manual_seed(0)
print("loading my positions")


def sinusoidal(positions, d, base=10000.0):
    warnings.warn("codes of", stacklevel=1)
    print("positions", positions.shape, "x" * 1000)
    if not isinstance(d, int) or d % 2:
        raise ValueError(f"d should be even but is {d}")
    angles = torch.as_tensor(positions).double()[..., None] / base ** torch.arange(0, 1, 2 / d, device=positions.device).double()[: d // 2]
    return torch.stack((torch.sin(angles), torch.cos(angles)), dim=-1).flatten(-2).float()


if __name__ == "__main__":
    print(sinusoidal(torch.arange(3), 4))
