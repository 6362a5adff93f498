"""`.detach()` on the scores cuts the graph, so nothing that comes before softmax can learn."""

CAUGHT_BY = ["2.1d"]


def softmax(x, dim):
    shifted = (x - x.amax(dim=dim, keepdim=True)).detach()
    exponentials = shifted.exp()
    return exponentials / exponentials.sum(dim=dim, keepdim=True)
