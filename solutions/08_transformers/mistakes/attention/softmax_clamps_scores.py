"""Scores are clamped against overflow, so all large ones look the same; subtract the largest instead."""

CAUGHT_BY = ["2.1b"]


def softmax(x, dim):
    exponentials = x.clamp(-80, 80).exp()
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
