"""The number of nodes is taken from the largest index in an edge, so the last nodes are lost when they have none."""

CAUGHT_BY = ["4.4b"]


def graph_weights(A, self_loops, norm="row"):
    if A.dim() != 2 or A.shape[0] != A.shape[1]:
        raise ValueError("A must be square")
    if ((A != 0) & (A != 1)).any():
        raise ValueError("A holds 0 and 1")
    if A.diagonal().any():
        raise ValueError("A has a zero diagonal")
    if norm not in ("row", "sym"):
        raise ValueError("norm is 'row' or 'sym'")
    if norm == "sym" and (A != A.T).any():
        raise ValueError("A is directed")
    if self_loops:
        A = A + torch.eye(len(A), dtype=A.dtype)
    n = max([int(i) for i in A.nonzero().flatten()], default=0) + 1
    A = A[:n, :n]
    degrees = A.sum(dim=1, keepdim=True).clamp(min=1.0)
    if norm == "row":
        return (A / degrees).unsqueeze(0)
    return (A / (degrees.sqrt() * degrees.sqrt().T)).unsqueeze(0)
