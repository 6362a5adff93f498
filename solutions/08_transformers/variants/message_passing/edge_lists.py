"""The graph as a list of edges: degrees by index_add, weights by index_put."""

import torch


def graph_weights(A, self_loops, norm="row"):
    if A.dim() < 2 or A.shape[-1] != A.shape[-2]:
        raise ValueError("not square")
    if not A.is_floating_point():
        raise ValueError("not floating-point")
    if bool((A.double() * (A.double() - 1)).any()):
        raise ValueError("not 0 or 1")
    to, sender = A.nonzero(as_tuple=True)
    if bool((to == sender).any()):
        raise ValueError("loop")
    edges = {(int(i), int(j)) for i, j in zip(to, sender)}
    if norm == "sym":
        if any((j, i) not in edges for i, j in edges):
            raise ValueError("directed")
    elif norm != "row":
        raise ValueError("norm")
    n = A.shape[0]
    if self_loops:
        loops = torch.arange(n)
        to, sender = torch.cat((to, loops)), torch.cat((sender, loops))
    degree = torch.zeros(n).index_add(0, to, torch.ones(len(to)))
    strength = 1 / degree[to] if norm == "row" else torch.rsqrt(degree[to] * degree[sender])
    return torch.zeros(1, n, n, dtype=A.dtype).index_put((torch.zeros_like(to), to, sender), strength.to(A.dtype))
