"""What each form of attention keeps for the backward pass, areas to scale, and what flash attention does there."""

from __future__ import annotations

from canvas import BLUE, GREEN, GREY, ORANGE, QUIET, RED, Figure, arrow, blank, box, frame, say, title

N, D = 5.0, 0.625  # to scale for n = 8 d


def draw() -> Figure:
    """Three columns of what is kept, and the steps of the backward pass for one pair of chunks."""
    figure, axis = blank(40, 12.2)
    for x, name in ((1.0, "part 2"), (10.4, "chunks under autograd"), (19.8, "flash attention")):
        title(axis, x, 0.6, name)
        for j, (letter, colour) in enumerate(zip("qkvO", (BLUE, ORANGE, GREEN, GREY), strict=True)):
            if letter == "O" and name != "flash attention":
                continue
            frame(axis, x + 0.85 * j, 2.6, D, N, facecolor=colour, linewidth=0.6, edgecolor=QUIET)
            say(axis, x + 0.85 * j + D / 2, 2.0, letter, ha="center", fontsize=8)
    frame(axis, 3.7, 2.6, N, N, facecolor=RED, linewidth=0.6, edgecolor=QUIET)
    say(axis, 6.2, 5.1, "P: n x n", ha="center")
    for row in range(4):
        for column in range(4):
            x, y = 13.1 + 1.26 * column, 2.6 + 1.26 * row
            frame(axis, x, y, 1.22, 1.22, facecolor=RED, linewidth=0.6, edgecolor=QUIET)
    say(axis, 10.4, 8.6, "the same n x n numbers, in pieces", fontsize=7.5, color=QUIET)
    frame(axis, 23.3, 2.6, 0.12, N, facecolor=RED, linewidth=0.6, edgecolor=QUIET)
    say(axis, 23.36, 2.0, "L", ha="center", fontsize=8)
    say(axis, 19.8, 8.6, "O, and one number a query", fontsize=7.5, color=QUIET)
    say(axis, 1.0, 11.0, "Kept for the backward pass; areas to scale for n = 8 d.", fontsize=8, color=QUIET)
    _backward(axis, 28.4)
    return figure


def _backward(axis, x: float) -> None:
    title(axis, x, 0.6, "backward, chunk by chunk")
    steps = (
        ("S = Q Kᵀ / √d,  P = exp(S − L)", GREY, "again, from q, k and L"),
        ("dV += Pᵀ dO", GREEN, ""),
        ("dP = dO Vᵀ", GREY, ""),
        ("dS = P ∘ (dP − D)", GREY, "D = rowsum(dO ∘ O), once"),
        ("dQ += dS K / √d,  dK += dSᵀ Q / √d", BLUE, ""),
    )
    for row, (text, colour, remark) in enumerate(steps):
        y = 1.7 + 2.05 * row
        box(axis, x, y, 11.0, 1.15, text, colour)
        if row:
            arrow(axis, (x + 5.5, y - 0.86), (x + 5.5, y - 0.06), linewidth=0.8)
        if remark:
            say(axis, x + 5.9, y + 1.6, remark, fontsize=7, color=QUIET)
