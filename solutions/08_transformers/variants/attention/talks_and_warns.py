"""A submission that prints, warns, seeds and has a main guard, and is right all the same."""

import warnings

import torch

torch.manual_seed(0)
print("loading my attention")


def softmax(x, dim):
    warnings.warn("this softmax is slow")
    print("softmax of", tuple(x.shape), "x" * 10_000)
    powers = torch.exp(x - torch.max(x, dim=dim, keepdim=True).values)
    return powers / torch.sum(powers, dim=dim, keepdim=True)


if __name__ == "__main__":
    print(softmax(torch.ones(3), 0))
