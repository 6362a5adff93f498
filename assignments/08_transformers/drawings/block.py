"""The model of part 6: a pre-norm block, and the way from symbols to two logits."""

from __future__ import annotations

from canvas import BLUE, GREEN, GREY, ORANGE, QUIET, VIOLET, Figure, arrow, blank, box, say, title
from matplotlib.patches import Circle


def draw() -> Figure:
    """Left to right: one block with its two side paths; below, the whole model."""
    figure, axis = blank(38, 13.4)
    title(axis, 0.5, 0.6, "Block, pre-norm: what flows from left to right is only ever added to")
    main = 5.2
    arrow(axis, (0.8, main), (36.6, main), linewidth=1.6)
    say(axis, 0.5, main + 0.8, "x (B, n, d_model)", fontsize=7.5, color=QUIET)
    paths = (
        (3.5, (("attention_norm", 5.2, VIOLET), ("attention", 4.4, ORANGE)), "mask, positions"),
        (20.0, (("feed_forward_norm", 6.0, VIOLET), ("feed_forward", 5.0, GREEN)), ""),
    )
    for x, stages, also in paths:
        arrow(axis, (x, main), (x, 2.9), linewidth=1.0, arrowstyle="-")
        at = x
        for name, width, colour in stages:
            arrow(axis, (at, 2.9), (at + 0.9, 2.9))
            box(axis, at + 0.9, 2.2, width, 1.4, name, colour)
            at += 0.9 + width
        arrow(axis, (at, 2.9), (at + 0.9, 2.9), arrowstyle="-")
        arrow(axis, (at + 0.9, 2.9), (at + 0.9, main - 0.45))
        axis.add_patch(Circle((at + 0.9, main), 0.42, facecolor="#ffffff", edgecolor=QUIET, zorder=3))
        say(axis, at + 0.9, main + 0.02, "+", ha="center", zorder=4)
        if also:
            say(axis, at - 2.2, 1.7, also, ha="center", fontsize=7.5, color=QUIET)
    title(axis, 0.5, 8.0, "OrderModel")
    stages = (
        ("tokens\n(B, n)", 3.0, "#ffffff"),
        ("embedding", 3.6, BLUE),
        ("+ code of\npositions", 3.6, BLUE),
        ("block", 2.8, ORANGE),
        ("block", 2.8, ORANGE),
        ("norm", 2.6, VIOLET),
        ("mean over\ntokens", 3.6, GREY),
        ("head", 2.6, GREEN),
        ("logits\n(B, 2)", 3.0, "#ffffff"),
    )
    x = 0.6
    for index, (name, width, colour) in enumerate(stages):
        if index:
            arrow(axis, (x, 10.3), (x + 1.1, 10.3))
            x += 1.1
        box(axis, x, 9.3, width, 2.0, name, colour)
        x += width
    say(axis, 9.4, 12.3, "sinusoidal or learned only", fontsize=7.5, color=QUIET)
    say(axis, 18.2, 12.3, "RoPE in each attention; causal mask where causal", fontsize=7.5, color=QUIET)
    return figure
