"""Attention in chunks: all scores at once, one square at a time, and which squares a causal mask leaves out."""

from __future__ import annotations

from canvas import BLUE, EMPTY, GREEN, ORANGE, QUIET, Figure, arrow, blank, frame, say, title

SIDE = 2.2


def draw() -> Figure:
    """Three panels: n x n, three by three chunks with what is kept a query, causal chunks."""
    figure, axis = blank(38, 11.4)
    _whole(axis, 1.6)
    _chunks(axis, 12.6)
    _causal(axis, 28.0)
    return figure


def _axes(axis, x: float, name: str) -> None:
    title(axis, x, 0.6, name)
    say(axis, x + 1.5 * SIDE, 1.7, "keys", ha="center", fontsize=7.5, color=QUIET)
    say(axis, x - 0.7, 2.2 + 1.5 * SIDE, "queries", ha="center", rotation=90, fontsize=7.5, color=QUIET)


def _whole(axis, x: float) -> None:
    _axes(axis, x, "all at once")
    frame(axis, x, 2.2, 3 * SIDE, 3 * SIDE, facecolor=BLUE, linewidth=0.8)
    say(axis, x + 1.5 * SIDE, 2.2 + 1.5 * SIDE, "n x n scores,\nand as many weights", ha="center")
    say(axis, x, 9.9, "4 bytes for each pair of a query\nand a key, more than once", fontsize=7.5, color=QUIET)


def _square(axis, x: float, row: int, column: int, colour: str, text: str = "") -> None:
    frame(axis, x + SIDE * column, 2.2 + SIDE * row, SIDE, SIDE, facecolor=colour, linewidth=0.6, edgecolor=QUIET)
    say(axis, x + SIDE * (column + 0.5), 2.2 + SIDE * (row + 0.5), text, ha="center")


def _chunks(axis, x: float) -> None:
    _axes(axis, x, "one square at a time")
    for row in range(3):
        for column in range(3):
            _square(axis, x, row, column, ORANGE if (row, column) == (1, 1) else EMPTY, str(3 * row + column + 1))
    left = x + 3 * SIDE + 1.9
    for place, (name, width) in enumerate((("m", 0.45), ("l", 0.45), ("o", 1.5))):
        at = left + (0, 1.2, 2.4)[place]
        for row in range(3):
            colour = GREEN if row == 0 else (ORANGE if row == 1 else EMPTY)
            frame(axis, at, 2.2 + SIDE * row, width, SIDE, facecolor=colour, linewidth=0.6, edgecolor=QUIET)
        say(axis, at + width / 2, 1.7, name, ha="center", fontsize=8)
    arrow(axis, (x + 3 * SIDE + 0.3, 2.2 + 1.5 * SIDE), (left - 0.25, 2.2 + 1.5 * SIDE))
    said = (
        "a query keeps its largest score m, the sum of its weights l\nand the weighted sum of the values o, and no row"
    )
    say(axis, x, 9.9, said, fontsize=7.5, color=QUIET)


def _causal(axis, x: float) -> None:
    _axes(axis, x, "causal")
    for row in range(3):
        for column in range(3):
            if column > row:
                _square(axis, x, row, column, EMPTY, "skip")
            elif column < row:
                _square(axis, x, row, column, GREEN, "all")
            else:
                _square(axis, x, row, column, EMPTY)
                _staircase(axis, x + SIDE * column, 2.2 + SIDE * row)
    say(axis, x, 9.9, "only squares on the diagonal need\na mask, made from their places", fontsize=7.5, color=QUIET)


def _staircase(axis, x: float, y: float, steps: int = 5) -> None:
    step = SIDE / steps
    for i in range(steps):
        frame(axis, x, y + i * step, (i + 1) * step, step, facecolor=GREEN, linewidth=0)
    frame(axis, x, y, SIDE, SIDE, linewidth=0.6, edgecolor=QUIET)
