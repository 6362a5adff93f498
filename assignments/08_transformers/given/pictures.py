"""How the notebook draws: heat maps, curves, and a few pictures of their own. Nothing to write here.

Every function makes one figure; `step` shows it. What is drawn is computed in the notebook, by your code.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import torch
from matplotlib.patches import FancyBboxPatch
from torch import Tensor

PASTEL = ("#cfe2f3", "#fde3c8", "#d5ead3", "#f6d5d5", "#e2d9ee", "#ecdfd3")
ARMS = {
    "none": ("no code", "0.35", "o"),
    "none_causal": ("no code, causal", "C2", "s"),
    "sinusoidal": ("sinusoidal", "C0", "^"),
    "learned": ("learned", "C1", "v"),
    "rope": ("RoPE", "C3", "D"),
}

plt.rcParams.update(
    {
        "figure.dpi": 100,
        "savefig.dpi": 100,
        "font.size": 9,
        "axes.titlesize": 9.5,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
        "figure.constrained_layout.use": True,
    }
)


def heatmaps(
    panels: Mapping[str, Tensor],
    rows: Sequence[str] | Sequence[Sequence[str]] = (),
    columns: Sequence[str] = (),
    labels: tuple[str, str] = ("", ""),
    signed: bool = False,
    bar: str = "",
    in_a_row: int = 4,
    size: float = 2.9,
) -> None:
    """Matrices side by side, on one scale of colours.

    Args:
        panels: title -> matrix.
        rows: names of the rows: the same for all panels, or a list for each.
        columns: names of the columns.
        labels: what stands on the vertical and on the horizontal axis.
        signed: colours for both signs, white at 0; else from 0 upwards.
        bar: what the colours mean.
        in_a_row: panels beside one another.
        size: width of a panel in inches.
    """
    high = max(float(matrix.abs().max()) for matrix in panels.values())
    across, down = min(in_a_row, len(panels)), math.ceil(len(panels) / in_a_row)
    first = next(iter(panels.values()))
    height = size * min(1.6, max(0.5, first.shape[0] / first.shape[1])) + 0.7
    figure, grid = plt.subplots(down, across, figsize=(size * across + 0.9, height * down), squeeze=False)
    for axis in grid.flat[len(panels) :]:
        axis.set_visible(False)
    shown = None
    for index, (axis, (title, matrix)) in enumerate(zip(grid.flat, panels.items(), strict=False)):
        shown = axis.imshow(
            matrix, cmap="RdBu_r" if signed else "Blues", vmin=-high if signed else 0, vmax=high, aspect="auto"
        )
        axis.set_title(title)
        named = list(rows[index] if rows and not isinstance(rows[0], str) else rows)
        each_row = named and (index % across == 0 or named != list(rows))
        if named:
            axis.set_yticks(range(len(named)) if each_row else [], named if each_row else [])
        else:
            axis.yaxis.set_major_locator(plt.MaxNLocator(6, integer=True))
            axis.tick_params(labelleft=index % across == 0)
        if columns:
            axis.set_xticks(range(len(columns)), columns, rotation=90)
        else:
            axis.xaxis.set_major_locator(plt.MaxNLocator(6, integer=True))
        axis.set_xlabel(labels[1])
        if index % across == 0:
            axis.set_ylabel(labels[0])
        axis.spines[:].set_visible(True)
    figure.colorbar(shown, ax=grid.ravel().tolist(), label=bar, shrink=0.8, aspect=30)


def curves(
    panels: Mapping[str, Mapping[str, Mapping[float, float]]],
    labels: tuple[str, str],
    styles: Mapping[str, Mapping[str, Any]] | None = None,
    log: str = "",
    width: float = 4.2,
) -> Any:
    """Curves in one or more panels with common axes, and one legend.

    Args:
        panels: title -> name of the curve -> x -> y.
        labels: of the vertical and the horizontal axis (the first is asked of every panel's left neighbour).
        styles: name -> how matplotlib draws it.
        log: which axes are logarithmic: "", "x", "y" or "xy"; x to base 2.
        width: of a panel in inches.

    Returns:
        The axes, left to right.
    """
    _, grid = plt.subplots(
        1, len(panels), figsize=(width * len(panels) + 0.4, 3.3), squeeze=False, sharex=True, sharey=True
    )
    for axis, (title, named) in zip(grid[0], panels.items(), strict=True):
        for name, points in named.items():
            axis.plot(list(points), list(points.values()), label=name, **(styles or {}).get(name, {}))
        axis.set_title(title)
        axis.set_xlabel(labels[1])
        axis.grid(alpha=0.25)
        if "x" in log:
            axis.set_xscale("log", base=2)
            axis.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
        if "y" in log:
            axis.set_yscale("log")
    grid[0, 0].set_ylabel(labels[0])
    grid[0, -1].legend(fontsize=8)
    return grid[0]


def band(axis: Any, x: Sequence[float], spread: Mapping[str, Sequence[float]], colour: str) -> None:
    """What ten seeds gave: their mean as a thin line, from the least to the greatest as a shade."""
    axis.fill_between(x, spread["least"], spread["greatest"], color=colour, alpha=0.15, linewidth=0)
    axis.plot(x, spread["mean"], color=colour, linewidth=1, linestyle="--")


def guides(axis: Any, x: Sequence[float], start: Mapping[str, float]) -> None:
    """Dotted lines that grow with the length and with its square, through the given heights at the first x."""
    for name, power in (("n", 1), ("n²", 2)):
        y = [start[name] * (each / x[0]) ** power for each in x]
        axis.plot(x, y, color="0.5", linewidth=0.9, linestyle=":")
        axis.annotate(f"~ {name}", (x[-1], y[-1]), (4, 0), textcoords="offset points", color="0.35", va="center")
    axis.set_xlim(right=2.2 * x[-1])
    axis.yaxis.set_major_formatter(lambda y, _: f"{y:,.0f}" if y >= 1 else f"{y:g}")


def token_rows(rows: Mapping[str, Sequence[str]], saved: Mapping[str, Mapping[float, float]]) -> None:
    """One text cut into tokens, a row for each number of merges; and on the right how long tokens have become.

    Args:
        rows: name of the row -> the tokens, as they are to be shown.
        saved: name of a text -> merges -> bytes a token.
    """
    _, (left, right) = plt.subplots(1, 2, figsize=(11, 2.9), width_ratios=(2.6, 1))
    for y, tokens in enumerate(rows.values()):
        x = 0.0
        for index, token in enumerate(tokens):
            width = max(1, len(token))
            box = FancyBboxPatch((x + 0.08, y - 0.34), width - 0.16, 0.68, boxstyle="round,pad=0,rounding_size=0.2")
            box.set(facecolor=PASTEL[index % len(PASTEL)], edgecolor="0.6", linewidth=0.5)
            left.add_patch(box)
            left.text(x + width / 2, y, token, ha="center", va="center", family="monospace", fontsize=8)
            x += width
        left.text(x + 0.6, y, f"{len(tokens)} tokens", va="center", color="0.35", fontsize=8)
    widest = max(sum(max(1, len(token)) for token in tokens) for tokens in rows.values())
    left.set(xlim=(0, widest + 7), ylim=(len(rows) - 0.4, -0.6), yticks=range(len(rows)), xticks=[])
    left.set_yticklabels(list(rows))
    left.spines[:].set_visible(False)
    left.tick_params(length=0)
    for name, points in saved.items():
        right.plot(list(points), list(points.values()), label=name)
    right.set(xlabel="merges", ylabel="bytes a token")
    right.grid(alpha=0.25)
    right.legend(fontsize=8)


def patches_and_windows(
    image: Tensor, patches: Sequence[Tensor], patch: int, series: Tensor, windows: Tensor, length: int, stride: int
) -> None:
    """An image and its patches in order; a series and its windows in order.

    Args:
        image: (C, H, W), C is 3, numbers in 0 .. 1.
        patches: each (C, patch, patch), in the order of the tokens.
        patch: height and width of a patch.
        series: (T,).
        windows: (count, length).
        length: of a window.
        stride: from one window to the next.
    """
    figure = plt.figure(figsize=(11, 4.3))
    whole, strip, line, cut = figure.subplot_mosaic(
        [["image", "patches"], ["series", "windows"]], width_ratios=(1, 2.4), height_ratios=(1.2, 1)
    ).values()
    whole.imshow(image.permute(1, 2, 0))
    for row in range(0, image.shape[1] + 1, patch):
        whole.axhline(row - 0.5, color="white", linewidth=1)
    for column in range(0, image.shape[2] + 1, patch):
        whole.axvline(column - 0.5, color="white", linewidth=1)
    across = image.shape[2] // patch
    for index in range(len(patches)):
        where = (index % across + 0.5) * patch - 0.5, (index // across + 0.5) * patch - 0.5
        whole.text(*where, str(index), color="white", ha="center", va="center", fontsize=9, fontweight="bold")
    whole.set(title=f"an image, {image.shape[1]} x {image.shape[2]}", xlabel="column", ylabel="row")
    for index, piece in enumerate(patches):
        strip.imshow(piece.permute(1, 2, 0), extent=(index + 0.04, index + 0.96, 0.04, 0.96))
        strip.text(index + 0.5, -0.12, str(index), ha="center", va="top", fontsize=8)
    strip.set(xlim=(0, len(patches)), ylim=(-0.4, 1.1), xticks=[], yticks=[], aspect="equal")
    strip.set_title(f"its {len(patches)} tokens: patches of {patch} x {patch}, row by row")
    strip.spines[:].set_visible(False)
    line.plot(series, color="C0", linewidth=1.2)
    line.set(title=f"a series, {len(series)} times", xlabel="time", ylabel="value")
    for index, window in enumerate(windows):
        level, middle = -3.4 * (index % 2), index * stride + (length - 1) / 2
        cut.plot(range(index * stride, index * stride + length), window + level, color=f"C{index}")
        above = float(window.max()) + level + 0.25
        cut.text(middle, above, f"token {index}", fontsize=8, color=f"C{index}", ha="center", va="bottom")
    cut.set(title=f"its {len(windows)} tokens: windows of {length}, one every {stride}", xlabel="time", yticks=[])
    cut.set_ylim(-5.3, 3.3)
    cut.spines["left"].set_visible(False)


def code_of_positions(table: Tensor, products: Tensor, fitted: Mapping[str, Tensor]) -> None:
    """The table of a code, its inner products, and matrices that shift it.

    Args:
        table: (positions, features).
        products: (positions, positions).
        fitted: title -> (features, features).
    """
    figure = plt.figure(figsize=(11, 6.2))
    above, below = figure.subfigures(2, 1, height_ratios=(1, 1.15))
    axis = above.subplots()
    shown = axis.imshow(table.T, cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
    axis.set(title="the code", xlabel="position", ylabel="feature")
    above.colorbar(shown, ax=axis, label="value", pad=0.01)
    left, *others = below.subplots(1, 1 + len(fitted))
    shown = left.imshow(products, cmap="Blues")
    left.set(title="inner products of codes", xlabel="position", ylabel="position")
    below.colorbar(shown, ax=left, shrink=0.8)
    for axis, (title, matrix) in zip(others, fitted.items(), strict=True):
        shown = axis.imshow(matrix, cmap="RdBu_r", vmin=-1, vmax=1)
        axis.set(title=title, xlabel="feature at p", ylabel="feature at p + 7")
        for i, j in matrix.abs().gt(0.02).nonzero().tolist():
            ink = "white" if abs(float(matrix[i, j])) > 0.65 else "black"
            axis.text(j, i, f"{float(matrix[i, j]):.2f}", ha="center", va="center", fontsize=6.5, color=ink)
    below.colorbar(shown, ax=others, label="entry", shrink=0.8)


def turned_pairs(pairs: Mapping[str, Tensor], products: Mapping[str, Mapping[str, Mapping[int, float]]]) -> None:
    """Pairs of features turned by their position, and inner products against distance.

    Args:
        pairs: title -> (positions, 2), the pair at positions 0, 1, 2, ...
        products: title -> name of the curve -> distance -> inner product.
    """
    figure = plt.figure(figsize=(11.5, 5.6))
    above, below = figure.subfigures(2, 1, height_ratios=(1, 1.35))
    for axis, (title, points) in zip(above.subplots(1, len(pairs)), pairs.items(), strict=True):
        crowded = float((points[1] - points[0]).norm()) < 0.2  # then the first and the last number are enough
        for position, (x, y) in enumerate(points.tolist()):
            shade = plt.colormaps["viridis"](position / max(1, len(points) - 1))
            axis.annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "->", "color": shade, "linewidth": 1.4})
            if position in (0, len(points) - 1) or not crowded:
                axis.text(1.18 * x, 1.18 * y, str(position), ha="center", va="center", fontsize=7.5, color=shade)
        axis.add_patch(plt.Circle((0, 0), 1, fill=False, color="0.8", linewidth=0.8))
        axis.set(title=title, xlim=(-1.4, 1.4), ylim=(-1.4, 1.4), aspect="equal", xticks=[], yticks=[])
        axis.spines[:].set_visible(False)
    styles = [{"linewidth": 5, "alpha": 0.25}, {"linewidth": 2.5}, {"linestyle": "--"}, {"linestyle": ":"}]
    for axis, (title, named) in zip(below.subplots(1, len(products)), products.items(), strict=True):
        for style, (name, points) in zip(styles, named.items(), strict=True):
            axis.plot(list(points), list(points.values()), label=name, **style)
        axis.set(title=title, xlabel="distance of the key from the query", ylabel="inner product")
        axis.grid(alpha=0.25)
    axis.legend(fontsize=7.5, loc="center left", bbox_to_anchor=(1, 0.5))


def symmetries(measured: Mapping[str, int], predicted: Mapping[str, tuple[str, int]]) -> None:
    """With how many of all orders each layer commutes, beside what was predicted.

    Args:
        measured: layer -> number of orders.
        predicted: layer -> the group that was named, and its size.
    """
    _, axis = plt.subplots(figsize=(8, 0.36 * len(measured) + 1.1))
    for y, (layer, count) in enumerate(measured.items()):
        group, size = predicted[layer]
        agrees = size == count
        axis.barh(y, count, color="C2" if agrees else "C3", height=0.6)
        said = f"{count}   predicted: {group} ({size})" + ("" if agrees else "   <- look again")
        axis.text(count * 1.08, y, said, va="center", fontsize=8)
    axis.set_xscale("log")
    axis.set(xlim=(0.8, 2500), xlabel="orders of five tokens that the layer commutes with, of 120")
    axis.set_xticks([1, 2, 5, 10, 24, 120], ["1", "2", "5", "10", "24", "120"])
    axis.minorticks_off()
    axis.set_yticks(range(len(measured)), list(measured))
    axis.invert_yaxis()


def mark_trained(axis: Any, first: float, last: float) -> None:
    """A grey ground behind the lengths that a model was trained at."""
    axis.axvspan(first, last, color="0.92", zorder=0)
    axis.text((first + last) / 2, 0.02, "trained", transform=axis.get_xaxis_transform(), ha="center", fontsize=8)


def as_points(x: Sequence[float] | Tensor, y: Sequence[float] | Tensor) -> dict[float, float]:
    """Two rows of numbers as a curve."""
    return dict(zip(torch.as_tensor(x).tolist(), torch.as_tensor(y).tolist(), strict=True))
