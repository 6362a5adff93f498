"""A graph of integers or booleans is converted, though A must be floating-point."""

CAUGHT_BY = ["4.4c"]

import torch

_graph_weights = graph_weights


def graph_weights(A, self_loops, norm="row"):
    return _graph_weights(A if A.is_floating_point() else A.float(), self_loops, norm)
