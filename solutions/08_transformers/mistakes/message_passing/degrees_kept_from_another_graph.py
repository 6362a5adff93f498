"""Degrees are kept from the first graph of that size, though the next one is wired differently."""

CAUGHT_BY = ["4.7a"]


_degrees = {}


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
    key = (len(A), self_loops, norm)
    if key not in _degrees:
        _degrees[key] = A.sum(dim=1, keepdim=True).clamp(min=1.0)
    degrees = _degrees[key]
    if norm == "row":
        return (A / degrees).unsqueeze(0)
    return (A / (degrees.sqrt() * degrees.sqrt().T)).unsqueeze(0)
