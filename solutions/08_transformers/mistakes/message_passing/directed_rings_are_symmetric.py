"""A graph counts as undirected when as many edges leave each node as arrive, which holds for a ring, too."""

CAUGHT_BY = ["4.4c"]

import torch


def graph_weights(A, self_loops, norm="row"):
    n = A.shape[-1]
    if A.shape != (n, n) or not A.is_floating_point():
        raise ValueError("A must be square and floating-point")
    if not ((A == 0) | (A == 1)).all() or A.diagonal().any():
        raise ValueError("A holds 0 and 1")
    if norm not in ("row", "sym") or (norm == "sym" and not torch.equal(A.sum(0), A.sum(1))):
        raise ValueError("norm")
    if self_loops:
        A = A + torch.eye(n, dtype=A.dtype, device=A.device)
    degrees = A.sum(dim=1, keepdim=True).clamp(min=1)
    return (A / degrees if norm == "row" else A / (degrees * degrees.T).sqrt()).unsqueeze(-3)
