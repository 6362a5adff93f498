"""How the memory of a function grows with the length: a table, and a picture on log axes (PNG, PDF or SVG).

The picture shows the submission, the reference, the naive form, n and n^2. It needs matplotlib, which is optional
(`pip install softmark[plot]`).
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from autograder.errors import SoftmarkError

_STYLES: dict[str, dict[str, Any]] = {  # the submission is hollow, so that a reference under it is seen
    "naive": {"color": "0.4", "marker": "^", "markersize": 4},
    "reference": {"color": "C0", "marker": "s", "markersize": 4},
    "library": {"color": "C2", "marker": "v", "markersize": 4},
    "submission": {"color": "C3", "marker": "o", "markersize": 9, "markerfacecolor": "none", "linewidth": 1.5},
}
_MOST = 24 << 30  # bytes of a usual GPU's memory, for the eye
_MIB = 1 << 20
_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


class Peak(msgspec.Struct, frozen=True):
    """Peak bytes at length `n`, and with which power it grew since the length before."""

    n: int
    bytes: int
    exponent: float | None = None
    seconds: float | None = None


class Curve(msgspec.Struct, frozen=True):
    """One form of the function, forward or with the backward pass.

    `bytes_a_pair` of query and key is the verdict on a GPU: 0 for memory that grows with n, None where there is none.
    """

    name: str
    training: bool
    runs: tuple[Peak, ...]
    bytes_a_pair: float | None = None


class Card(msgspec.Struct, frozen=True):
    """The GPU that was measured on, and when (UTC)."""

    name: str
    driver: str
    torch: str
    at: str


class MemoryGrowth(msgspec.Struct, frozen=True):
    """How one function of a submission grows, beside other forms; on a GPU where there is a `card`."""

    submission: str
    function: str
    curves: tuple[Curve, ...]
    card: Card | None = None


def as_text(report: MemoryGrowth) -> str:
    """The table: a line for each length, MiB and exponent of each curve."""
    lines = [f"memory of {report.function} in {report.submission}: MiB at the peak (exponent of each step)"]
    width = 20 if report.card is None else 28
    if report.card is not None:
        card = report.card
        lines[0] = lines[0].replace("(", "and milliseconds (")
        lines.append(f"on {card.name} (driver {card.driver}, torch {card.torch}, {card.at})")
        lines.append("outside the sandbox: the code that was handed in ran with your rights")
    for training in (False, True):
        curves = [curve for curve in report.curves if curve.training == training]
        lines += ["", "training" if training else "forward", _row("n", [curve.name for curve in curves], width)]
        for n in sorted({run.n for curve in curves for run in curve.runs}):
            cells = [next((_cell(run) for run in curve.runs if run.n == n), "-") for curve in curves]
            lines.append(_row(f"{n:,}", cells, width))
        if report.card is not None:
            lines.append(_row("grows", [_verdict(curve) for curve in curves], width))
    return "\n".join(lines)


def _row(first: str, cells: Sequence[str], width: int) -> str:
    return (f"{first:>8}" + "".join(f"{cell:>{width}}" for cell in cells)).rstrip()


def _cell(run: Peak) -> str:
    step = "" if run.exponent is None else f"({run.exponent:.2f})"
    taken = "" if run.seconds is None else f" {1000 * run.seconds:,.1f} ms"
    return f"{run.bytes / _MIB:,.2f}{taken} {step:>6}"


def _verdict(curve: Curve) -> str:
    """How memory grows, by the second difference over lengths."""
    if curve.bytes_a_pair is None:
        return "the card is full"
    return "with n" if not curve.bytes_a_pair else f"n²: {curve.bytes_a_pair:.1f} B a pair"


def draw(report: MemoryGrowth, file: Path) -> None:
    """Write the picture to `file`; its suffix is the format. Raises `SoftmarkError` where that cannot be done."""
    try:
        importlib.import_module("matplotlib").use("Agg")
        pyplot: Any = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        raise SoftmarkError("A plot needs matplotlib: pip install 'softmark[plot]'.") from None
    figure, axes = pyplot.subplots(1, 2, figsize=(11, 5), sharex=True, sharey=True, layout="constrained")
    for axis, training in zip(axes, (False, True), strict=True):
        curves = [curve for curve in report.curves if curve.training == training and curve.runs]
        for curve in curves:
            lengths, sizes = [run.n for run in curve.runs], [run.bytes for run in curve.runs]
            axis.loglog(lengths, sizes, label=_label(curve), **_STYLES[curve.name])
        _guides(axis, curves)
        axis.set_title("training: forward and backward" if training else "forward")
        axis.set_xlabel("length n of the sequence")
        axis.grid(True, which="major", alpha=0.25)
        axis.legend(loc="upper left", framealpha=1, edgecolor="none")
    _scale(axes[0], [run.n for curve in report.curves for run in curve.runs])
    axes[0].set_ylabel("memory at the peak, without the inputs")
    figure.suptitle(f"Memory of {report.function} in {report.submission}")
    try:
        figure.savefig(file, dpi=150)
    except (OSError, ValueError) as error:
        raise SoftmarkError(f"{file} could not be written: {error}.") from None
    finally:
        pyplot.close(figure)


def _label(curve: Curve) -> str:
    """ "reference: n^1.02", by the last step: what a person reads off the picture, as a number."""
    exponent = curve.runs[-1].exponent
    return curve.name if exponent is None else f"{curve.name}: grows as $n^{{{exponent:.2f}}}$"


def _guides(axis: Any, curves: Sequence[Curve]) -> None:
    """The slopes of n and n^2, from where the reference begins, and the memory of a GPU."""
    start = next((curve.runs[0] for curve in curves if curve.name == "reference"), None)
    last = max((run.n for curve in curves for run in curve.runs), default=0)
    grey = {"color": "0.55", "fontsize": 9}
    if start is not None and last > start.n:
        for power, label in ((1, "n"), (2, "n²")):
            sizes = [start.bytes * (n / start.n) ** power for n in (start.n, last)]
            axis.plot((start.n, last), sizes, color="0.65", linestyle=":", linewidth=1, zorder=0)
            axis.annotate(label, (last, sizes[1]), (5, 0), textcoords="offset points", va="center", **grey)
    axis.axhline(_MOST, color="0.65", linestyle="--", linewidth=1, zorder=0)
    across = axis.get_yaxis_transform()
    axis.text(0.63, _MOST * 1.8, f"a GPU with {_size(_MOST)}", transform=across, ha="center", va="center", **grey)


def _scale(axis: Any, lengths: Sequence[int]) -> None:
    """Lengths and sizes as people write them, on axes that the two panels share."""
    if lengths:
        ticks = sorted(set(lengths))
        axis.set_xscale("log", base=2)
        axis.set_xticks(ticks, [f"{n:,}" for n in ticks], fontsize=9)
        axis.minorticks_off()
        axis.set_xlim(ticks[0] / 1.3, ticks[-1] * 1.6)
    low, high = axis.get_ylim()
    sizes = [16**power for power in range(20) if low <= 16**power <= high]
    axis.set_yticks(sizes, [_size(size) for size in sizes])


def _size(size: float) -> str:
    """ "64 KiB", "4 MiB", "16 GiB"."""
    unit, name = next((each for each in _UNITS if size >= each[0]), (1, "bytes"))
    return f"{size / unit:g} {name}"
