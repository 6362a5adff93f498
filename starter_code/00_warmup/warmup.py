"""Warm-up: one function, five minutes, to see that your set-up works.

Nothing else of the course is in here; softmax comes back in assignment 08, where attention is built on it.
"""

import torch


def softmax(x: torch.Tensor, dim: int) -> torch.Tensor:
    """Turn scores into probabilities along one axis: exp(x_i) / sum_j exp(x_j).

    Args:
        x: scores, any shape, any floating-point dtype.
        dim: the axis along which the result sums to 1; negative numbers count from the end.

    Returns:
        Probabilities of the shape and dtype of `x`.

    Example: softmax(tensor([0.0, log 3]), dim=0) is [0.25, 0.75], since exp gives 1 and 3.

    Source: Goodfellow, Bengio and Courville, Deep Learning, 2016, section 4.1 (and why the largest score is taken
    off).
    """
    raise NotImplementedError
