"""Self-loops are written into A where A is float64 already, since A.double() is A then."""

CAUGHT_BY = ["4.5b"]

_graph_weights = graph_weights


def graph_weights(A, self_loops, norm="row"):
    weights = _graph_weights(A, self_loops, norm)
    wide = A.double()
    if self_loops:
        wide.fill_diagonal_(1.0)
    return weights
