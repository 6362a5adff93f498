"""Memory against length on log axes, as a PNG, PDF or SVG: the submission, the reference, the naive form, n and n^2.

Needs matplotlib, which is optional (`pip install softmark[plot]`). It measures nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from autograder.errors import SoftmarkError

_STYLES: dict[str, dict[str, Any]] = {  # the submission is hollow, so that a reference under it is seen
    "naive": {"color": "0.4", "marker": "^", "markersize": 4},
    "reference": {"color": "C0", "marker": "s", "markersize": 4},
    "submission": {"color": "C3", "marker": "o", "markersize": 9, "markerfacecolor": "none", "linewidth": 1},
}


class Run(Protocol):
    """Bytes at one length."""

    @property
    def n(self) -> int: ...
    @property
    def bytes(self) -> int: ...


class Curve(Protocol):
    """One form of the function."""

    @property
    def name(self) -> str: ...
    @property
    def training(self) -> bool: ...
    @property
    def runs(self) -> Sequence[Run]: ...


class Report(Protocol):
    """What is drawn."""

    @property
    def submission(self) -> str: ...
    @property
    def function(self) -> str: ...
    @property
    def curves(self) -> Sequence[Curve]: ...


def draw(report: Report, file: Path) -> None:
    """Write the picture to `file`; its suffix is the format. Raises `SoftmarkError` where that cannot be done."""
    try:
        importlib.import_module("matplotlib").use("Agg")
        pyplot: Any = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        raise SoftmarkError("A plot needs matplotlib: pip install 'softmark[plot]'.") from None
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4.2), sharex=True, sharey=True, layout="constrained")
    for axis, training in zip(axes, (False, True), strict=True):
        curves = [curve for curve in report.curves if curve.training == training and curve.runs]
        for curve in curves:
            lengths, sizes = [run.n for run in curve.runs], [run.bytes / 2**20 for run in curve.runs]
            axis.loglog(lengths, sizes, label=curve.name, **_STYLES[curve.name])
        _guides(axis, curves)
        axis.set_xscale("log", base=2)
        axis.set_title("training" if training else "forward")
        axis.set_xlabel("length n")
        axis.grid(True, which="major", alpha=0.25)
    axes[0].set_ylabel("MiB at the peak")
    axes[0].legend(frameon=False)
    figure.suptitle(f"Memory of {report.function} in {report.submission}")
    try:
        figure.savefig(file, dpi=150)
    except (OSError, ValueError) as error:
        raise SoftmarkError(f"{file} could not be written: {error}.") from None
    finally:
        pyplot.close(figure)


def _guides(axis: Any, curves: Sequence[Curve]) -> None:
    """The lines n and n^2 through the first point of the reference and of the naive form, for the eye."""
    for curve in curves:
        power = {"reference": 1, "naive": 2}.get(curve.name)
        if power is None:
            continue
        first = curve.runs[0]
        ends = [first.n, 65536]
        sizes = [first.bytes / 2**20 * (n / first.n) ** power for n in ends]
        axis.plot(ends, sizes, color="0.6", linestyle=":", linewidth=1, zorder=0)
        label = "n" if power == 1 else "n²"
        axis.annotate(label, (ends[1], sizes[1]), (8, 0), textcoords="offset points", color="0.4", va="center")
