"""RoPE: a pair of features is turned by its position, and an inner product keeps the difference of two positions."""

from __future__ import annotations

import math

from canvas import DEEP_BLUE, DEEP_ORANGE, GREY, INK, QUIET, Figure, arrow, blank, say, title
from matplotlib.patches import Arc, Circle, Wedge

TURN = math.radians(35)
QUERY, KEY = math.radians(20), math.radians(-10)
M, N = 3, 1


def draw() -> Figure:
    """A query at 3 and a key at 1; both turned; both turned back by 1."""
    figure, axis = blank(37, 12.6)
    title(axis, 1.0, 0.8, "before: positions are not seen")
    _dial(axis, 6.0, 6.8, QUERY, KEY, "q", "k")
    title(axis, 13.6, 0.8, f"turned by m w and n w (m = {M}, n = {N})")
    _dial(axis, 18.6, 6.8, QUERY + M * TURN, KEY + N * TURN, "rope(q, m)", "rope(k, n)", QUERY, KEY)
    title(axis, 26.2, 0.8, "both turned back by n w")
    _dial(axis, 31.2, 6.8, QUERY + (M - N) * TURN, KEY, "rope(q, m - n)", "k")
    say(
        axis,
        31.2,
        12.0,
        "the same angle between the two,\nso the same inner product",
        ha="center",
        fontsize=7.5,
        color=QUIET,
    )
    arrow(axis, (11.6, 6.8), (13.2, 6.8))
    arrow(axis, (24.2, 6.8), (25.8, 6.8))
    return figure


def _dial(
    axis, x: float, y: float, query: float, key: float, name_q: str, name_k: str, *before: float, r: float = 3.9
) -> None:
    axis.add_patch(Circle((x, y), r, fill=False, edgecolor="0.8", linewidth=0.8))
    if abs(query - key) > 1:  # the angle between the two, where they were turned
        axis.add_patch(Wedge((x, y), r, -math.degrees(query), -math.degrees(key), facecolor=GREY, alpha=0.7))
    for old, colour in zip(before, (DEEP_BLUE, DEEP_ORANGE), strict=False):
        tip = x + r * math.cos(old), y - r * math.sin(old)
        arrow(axis, (x, y), tip, color=colour, linewidth=1.0, linestyle=(0, (2, 2)), alpha=0.6)
    for old, new, size, colour in zip(before, (query, key), (2.6, 1.6), (DEEP_BLUE, DEEP_ORANGE), strict=False):
        low, high = sorted((-math.degrees(old), -math.degrees(new)))
        axis.add_patch(Arc((x, y), 2 * size, 2 * size, theta1=low, theta2=high, color=colour, linewidth=0.9))
        middle = (old + new) / 2
        at = x + (size + 0.45) * math.cos(middle), y - (size + 0.45) * math.sin(middle)
        say(axis, *at, "m w" if colour == DEEP_BLUE else "n w", ha="center", color=colour, fontsize=7.5)
    for angle, name, colour in ((query, name_q, DEEP_BLUE), (key, name_k, DEEP_ORANGE)):
        tip = x + r * math.cos(angle), y - r * math.sin(angle)
        arrow(axis, (x, y), tip, color=colour, linewidth=1.8)
        end = x + (r + 0.4) * math.cos(angle), y - (r + 0.5) * math.sin(angle)
        say(axis, *end, name, ha="left" if math.cos(angle) > -0.2 else "right", color=INK, fontsize=8)
