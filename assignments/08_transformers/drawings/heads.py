"""Multi-head attention: which features a head owns, and where the axis of the heads goes."""

from __future__ import annotations

from canvas import BLUE, GREEN, GREY, ORANGE, QUIET, Figure, arrow, blank, box, grid, say, stack, title

COLOURS = (BLUE, ORANGE, GREEN)


def draw() -> Figure:
    """Q, K and V go from (n, heads * d_head) to (heads, n, d_head); attention in each head; and back."""
    figure, axis = blank(37, 13.2)
    heads, n, width = 3, 3, 2
    owned = [[COLOURS[j // width] for j in range(heads * width)] for _ in range(n)]
    named = [[f"{i}{j}" for j in range(heads * width)] for i in range(n)]
    title(axis, 0.5, 0.7, "projected")
    stack(axis, 0.8, 5.5, heads * width, n)
    grid(axis, 0.8, 5.5, owned, named)
    say(axis, 3.8, 4.5, "features", ha="center", fontsize=7.5, color=QUIET)
    say(axis, 0.2, 7.0, "tokens", rotation=90, ha="center", fontsize=7.5, color=QUIET)
    say(axis, 3.8, 9.2, "Q, K and V, each (n, d_model) = (3, 6)", ha="center", fontsize=7.5, color=QUIET)
    title(axis, 10.6, 0.7, "a Q, a K and a V a head")
    for head in range(heads):
        top = 1.5 + 4.0 * head
        columns = range(head * width, (head + 1) * width)
        stack(axis, 12.3, top, width, n)
        grid(
            axis,
            12.3,
            top,
            [[COLOURS[head]] * width for _ in range(n)],
            [[named[i][j] for j in columns] for i in range(n)],
        )
        say(axis, 11.9, top + 1.5, f"head {head}", ha="right", fontsize=7.5, color=QUIET)
        arrow(axis, (7.6, 7.0), (9.4, top + 1.5), linewidth=0.8)
        box(axis, 17.2, top + 0.6, 6.2, 1.8, "softmax(Q Kᵀ / √d_head) V", GREY)
        arrow(axis, (15.0, top + 1.5), (17.0, top + 1.5), linewidth=0.8)
        grid(axis, 25.0, top, [[COLOURS[head]] * width for _ in range(n)])
        arrow(axis, (23.6, top + 1.5), (24.8, top + 1.5), linewidth=0.8)
        arrow(axis, (27.3, top + 1.5), (29.0, 7.0), linewidth=0.8)
    title(axis, 18.2, 0.7, "attention in each")
    title(axis, 28.8, 0.7, "side by side, in order")
    grid(axis, 29.4, 5.5, owned)
    say(axis, 32.4, 9.2, "then out_proj", ha="center", fontsize=7.5, color=QUIET)
    return figure
