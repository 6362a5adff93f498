"""Without a norm the symmetric one is taken; the default is "row"."""

CAUGHT_BY = ["4.4a"]

_graph_weights = graph_weights


def graph_weights(A, self_loops, norm="sym"):
    return _graph_weights(A, self_loops, norm)
