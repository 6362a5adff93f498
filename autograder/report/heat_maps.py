"""Two tensors that should be equal and are not, as three heat maps beside each other: expected, got, difference.

It is an SVG of rectangles, with the number of each in a tooltip, so nothing is needed to draw or to see it.
"""

from __future__ import annotations

import math
from typing import Any, cast

from torch import Tensor

from autograder.testing.mismatch import places

_MOST = 48  # rows and columns that can still be told apart
_WIDTH = 200  # of one map


def heat_maps(got: Any, expected: Any) -> str:
    """The picture of two tensors of one shape (..., rows, columns): of that matrix in which they first differ.

    Returns:
        An SVG element; "" where there is nothing that a picture says better: other values, vectors, large matrices.
    """
    if not (isinstance(got, Tensor) and isinstance(expected, Tensor)) or got.shape != expected.shape or got.dim() < 2:
        return ""
    rows, columns = got.shape[-2:]
    if not (2 <= rows <= _MOST and 2 <= columns <= _MOST) or got.is_complex():
        return ""
    one, other = expected.detach().double(), got.detach().double()
    wrong = ~((one - other).abs() <= 1e-5 * (1 + one.abs())) & ~(one.isnan() & other.isnan()) & (one != other)
    first = next(iter(places(wrong)), None)
    if first is None:
        return ""
    one, other = one[first[:-2]], other[first[:-2]]
    size = min(24, _WIDTH // max(rows, columns))
    largest = _largest(one, other)
    maps = [
        _map("expected", one, largest, size, 0),
        _map("got", other, largest, size, 1),
        _map("difference", other - one, _largest(other - one), size, 2),
    ]
    step, height = columns * size + 24, rows * size + 26
    where = f" at [{', '.join(map(str, first[:-2]))}]" if len(first) > 2 else ""
    return (
        f'<svg role="img" aria-label="expected, got and difference as heat maps{where}" '
        f'width="{3 * step}" height="{height}" viewBox="0 0 {3 * step} {height}" style="max-width: 100%; height: auto" '
        f'xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="13" fill="currentColor">'
        f"{''.join(maps)}</svg>"
    )


def _largest(*tensors: Tensor) -> float:
    finite = [tensor[tensor.isfinite()].abs() for tensor in tensors]
    return max((float(each.max()) for each in finite if each.numel()), default=0.0) or 1.0


def _map(name: str, values: Tensor, largest: float, size: int, place: int) -> str:
    left = place * (values.shape[1] * size + 24)
    rows = cast("list[list[float]]", values.tolist())
    cells = [
        f'<rect x="{left + column * size}" y="{22 + row * size}" width="{size}" height="{size}" '
        f'fill="{_colour(value / largest)}"><title>[{row}, {column}] = {value:.4g}</title></rect>'
        for row, line in enumerate(rows)
        for column, value in enumerate(line)
    ]
    return f'<text x="{left}" y="14">{name}</text>{"".join(cells)}'


def _colour(share: float) -> str:
    """From white (0) to red (1) or blue (-1 or less); black for what is no number."""
    if math.isnan(share):
        return "#000000"
    strength = min(1.0, abs(share)) ** 0.7
    end = (178, 24, 43) if share > 0 else (33, 102, 172)
    return "#" + "".join(f"{round(247 + (channel - 247) * strength):02x}" for channel in end)
