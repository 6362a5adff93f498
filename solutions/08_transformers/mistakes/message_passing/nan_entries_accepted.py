"""Entries are refused when they differ from both 0 and 1 by more than a bit, and NaN never does."""

CAUGHT_BY = ["4.4c"]

import torch

_graph_weights = graph_weights


def graph_weights(A, self_loops, norm="row"):
    return _graph_weights(torch.where(A.isnan(), torch.ones_like(A), A) if A.is_floating_point() else A, self_loops, norm)
