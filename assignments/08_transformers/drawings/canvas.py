"""What all drawings share: a blank canvas in equal units, boxes, grids of cells, arrows, and one set of colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

INK, QUIET, EMPTY = "#222222", "#777777", "#ffffff"
BLUE, ORANGE, GREEN, RED, VIOLET = "#9ec5e8", "#f7c99b", "#aed8a6", "#eda6a6", "#c9b6e4"
YELLOW, TEAL = "#f3e58f", "#9ad7d1"
DEEP_BLUE, DEEP_ORANGE, DEEP_GREEN, DEEP_RED = "#2b6ca3", "#c8741a", "#3c8c3a", "#b83b3b"
GREY = "#e6e6e6"

plt.rcParams.update(
    {"font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"], "font.size": 9}
)


def blank(width: float, height: float, units: float = 0.3) -> tuple[Figure, Any]:
    """A figure whose axes count `width` by `height` units of `units` inches; y grows downwards, as in a matrix."""
    figure = plt.figure(figsize=(width * units, height * units))
    axis = figure.add_axes((0, 0, 1, 1))
    axis.set(xlim=(0, width), ylim=(height, 0), aspect="equal")
    axis.axis("off")
    return figure, axis


def cell(axis: Any, x: float, y: float, colour: str = EMPTY, text: str = "", **style: Any) -> None:
    """One square cell with its upper left corner at (x, y)."""
    axis.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, edgecolor=style.pop("edge", QUIET), linewidth=0.6))
    if text:
        axis.text(x + 0.5, y + 0.52, text, ha="center", va="center", **{"fontsize": 8, "color": INK, **style})


def grid(axis: Any, x: float, y: float, colours: Sequence[Sequence[str]], texts: Sequence[Sequence[str]] = ()) -> None:
    """A matrix of cells, with what stands in them."""
    for i, row in enumerate(colours):
        for j, colour in enumerate(row):
            cell(axis, x + j, y + i, colour, texts[i][j] if texts else "")


def stack(axis: Any, x: float, y: float, width: float, height: float, behind: int = 2, step: float = 0.25) -> None:
    """The edges of matrices that lie behind the one at (x, y), which is drawn after it."""
    for place in range(behind, 0, -1):
        style = {"facecolor": EMPTY, "edgecolor": QUIET, "linewidth": 0.6}
        frame(axis, x + place * step, y - place * step, width, height, **style)


def frame(axis: Any, x: float, y: float, width: float, height: float, **style: Any) -> None:
    """An outline, or a filled rectangle when `facecolor` is given."""
    axis.add_patch(Rectangle((x, y), width, height, **{"fill": "facecolor" in style, "edgecolor": INK, **style}))


def box(axis: Any, x: float, y: float, width: float, height: float, text: str, colour: str = GREY) -> None:
    """A rounded box with a text in its middle."""
    shape = "round,pad=0,rounding_size=0.25"
    axis.add_patch(
        FancyBboxPatch((x, y), width, height, boxstyle=shape, facecolor=colour, edgecolor=QUIET, linewidth=0.8)
    )
    axis.text(x + width / 2, y + height / 2, text, ha="center", va="center", color=INK, fontsize=8.5)


def arrow(axis: Any, start: tuple[float, float], end: tuple[float, float], **style: Any) -> None:
    """An arrow from `start` to `end`."""
    options = {"arrowstyle": "-|>", "mutation_scale": 9, "color": INK, "linewidth": 1.0, "shrinkA": 0, "shrinkB": 0}
    axis.add_patch(FancyArrowPatch(start, end, **{**options, **style}))


def say(axis: Any, x: float, y: float, text: str, **style: Any) -> None:
    """A text with its left end at (x, y), unless `ha` says otherwise."""
    axis.text(x, y, text, **{"ha": "left", "va": "center", "color": INK, "fontsize": 8.5, **style})


def title(axis: Any, x: float, y: float, text: str, **style: Any) -> None:
    """The heading of one panel."""
    say(axis, x, y, text, **{"fontsize": 9.5, "fontweight": "bold", **style})
