"""One family: who is a neighbour of token 2, and what makes the weights, in the four layers."""

from __future__ import annotations

from canvas import BLUE, DEEP_BLUE, DEEP_GREEN, DEEP_ORANGE, DEEP_RED, GREY, QUIET, Figure, arrow, blank, say, title
from matplotlib.patches import Circle

PLACES = [0.0, 1.5, 3.0, 4.5, 6.0, 7.5]
GRAPH = {0: (0.4, 0.6), 1: (3.6, 0.0), 2: (2.6, 2.4), 3: (6.0, 1.6), 4: (4.6, 4.0), 5: (0.6, 3.8)}
EDGES = ((0, 2), (1, 2), (4, 2), (1, 3), (3, 4), (5, 0))


def draw() -> Figure:
    """Dense layer, convolution, graph layer, attention: arrows go from neighbours to the token that gathers."""
    figure, axis = blank(39, 10.6)
    panels = (
        (0.8, "dense layer (MLP)", "everyone is a neighbour;\na parameter for each pair"),
        (10.6, "convolution (CNN)", "near ones are neighbours; a parameter\nfor each offset, the same everywhere"),
        (20.4, "graph layer (GNN)", "whoever has an edge; the weight\nfollows from their number"),
        (30.2, "attention (Transformer)", "everyone is a neighbour; the weight is\ncomputed from the two tokens"),
    )
    for x, name, remark in panels:
        title(axis, x, 0.7, name)
        say(axis, x, 9.4, remark, fontsize=7.5, color=QUIET)
    dense = [0.7, 2.2, 1.3, 0.5, 2.8, 1.0]
    _layer(axis, 1.2, {j: (width, DEEP_BLUE) for j, width in enumerate(dense)})
    _layer(axis, 11.0, {1: (2.6, DEEP_ORANGE), 2: (1.0, DEEP_BLUE), 3: (1.8, DEEP_GREEN)}, also=4)
    _graph(axis, 21.0)
    found = [0.4, 0.6, 1.2, 3.6, 0.4, 0.9]
    _layer(axis, 30.6, {j: (width, DEEP_RED) for j, width in enumerate(found)})
    return figure


def _layer(axis, x: float, incoming: dict[int, tuple[float, str]], also: int | None = None) -> None:
    for j, (width, colour) in incoming.items():
        _send(axis, x, j, 2, width, colour)
    if also is not None:  # another token that gathers, with the same weights by offset
        for offset, (width, colour) in zip((-1, 0, 1), incoming.values(), strict=True):
            _send(axis, x, also + offset, also, width, colour)
    for j, place in enumerate(PLACES):
        _token(axis, x + place, 7.3, j, GREY)
        _token(axis, x + place, 2.4, j, BLUE if j in (2, also) else "#ffffff")


def _send(axis, x: float, source: int, target: int, width: float, colour: str) -> None:
    start, end = (x + PLACES[source], 6.75), (x + PLACES[target], 2.98)
    arrow(axis, start, end, linewidth=width, color=colour, mutation_scale=7)


def _graph(axis, x: float) -> None:
    places = {node: (x + a, 2.6 + b) for node, (a, b) in GRAPH.items()}
    for source, target in EDGES:
        (x0, y0), (x1, y1) = places[source], places[target]
        length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
        ux, uy = 0.6 * (x1 - x0) / length, 0.6 * (y1 - y0) / length
        heard = target == 2
        arrow(
            axis,
            (x0 + ux, y0 + uy),
            (x1 - ux, y1 - uy),
            linewidth=2.2 if heard else 0.8,
            color=DEEP_GREEN if heard else QUIET,
            mutation_scale=8,
        )
    for node, (a, b) in places.items():
        _token(axis, a, b, node, BLUE if node == 2 else GREY)
    say(axis, x + 5.2, 8.0, "1/3 each", fontsize=7.5, color=DEEP_GREEN, ha="center")


def _token(axis, x: float, y: float, number: int, colour: str) -> None:
    axis.add_patch(Circle((x, y), 0.52, facecolor=colour, edgecolor=QUIET, linewidth=0.8))
    say(axis, x, y + 0.03, str(number), ha="center", fontsize=7.5)
