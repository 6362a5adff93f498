"""Degrees are counted before the self-loops are added; they count too."""

CAUGHT_BY = ["4.4a"]


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
    degrees = A.sum(dim=1, keepdim=True).clamp(min=1.0)
    if self_loops:
        A = A + torch.eye(len(A), dtype=A.dtype)
    if norm == "row":
        return (A / degrees).unsqueeze(0)
    return (A / (degrees.sqrt() * degrees.sqrt().T)).unsqueeze(0)
