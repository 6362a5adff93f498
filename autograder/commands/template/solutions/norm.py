"""Normalisation: one function."""

import torch

# BEGIN SOLUTION
# This is the reference, and `softmark starter` makes what students get from it. Between the marks, code in a function
# becomes `raise NotImplementedError` (or what stands in lines `# STARTER: ...`), and a block such as this one vanishes.
# Everything else students see.
# END SOLUTION


def rms_norm(x: torch.Tensor, eps: float = 1e-6) -> torch.Tensor:
    """Divide each row by the square root of its mean square: x / sqrt(mean(x^2) + eps).

    Args:
        x: shape (..., d), any floating-point dtype.
        eps: keeps the root away from 0.

    Returns:
        The shape and dtype of `x`.

    Example: rms_norm(tensor([3.0, 4.0])) is [0.8485, 1.1314]: the mean square is 12.5.
    """
    # BEGIN SOLUTION
    mean_square = x.square().mean(dim=-1, keepdim=True)
    return x / (mean_square + eps).sqrt()
    # END SOLUTION
