"""Legal formulas of part 3, made by combining what people write: frequencies x angles x layouts of sines and pairs.

Each is right up to rounding. They err differently: a frequency by exp and log, an angle held in float32, a cosine as a
sine a quarter turn ahead, a rotation by a complex product, by matrices, by radius and angle. It judges nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

Frequencies = Callable[[int, float], Tensor]
Angles = Callable[[Tensor, Tensor], Tensor]
Code = Callable[[Tensor], Tensor]
Turn = Callable[[Tensor, Tensor], Tensor]

# ------------------------------------------------------------------ frequencies: (d, base) -> (d / 2,)

FREQUENCIES: dict[str, Frequencies] = {
    "power": lambda d, base: base ** (-torch.arange(0, d, 2).float() / d),
    "reciprocal": lambda d, base: 1.0 / base ** (torch.arange(0, d, 2).float() / d),
    "torch.pow": lambda d, base: torch.pow(torch.tensor(float(base)), -2.0 * torch.arange(d // 2) / d),
    "exp of log": lambda d, base: torch.exp(torch.arange(0, d, 2).float() * -(math.log(base) / d)),
    "exp of log, halves": lambda d, base: torch.exp(-math.log(base) * torch.arange(d // 2) / (d // 2)),
    "numbers of Python": lambda d, base: torch.tensor([base ** (-i / d) for i in range(0, d, 2)], dtype=torch.float32),
    "float64": lambda d, base: base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d),
    "steps": lambda d, base: torch.cumprod(
        torch.tensor([1.0] + [base ** (-2 / d)] * (d // 2 - 1), dtype=torch.float64), 0
    ).float(),
}

# ------------------------------------------------------------------ angles: (positions, frequencies) -> (..., d / 2)


def _from_a_table(positions: Tensor, frequencies: Tensor) -> Tensor:
    """Rows of a table of the first positions, with the sign put back; far ones are not worth a table."""
    farthest = int(positions.abs().max()) if positions.numel() else 0
    if farthest > 5000:
        return positions[..., None] * frequencies
    table = torch.outer(torch.arange(farthest + 1).to(frequencies), frequencies)
    return table[positions.abs().long()] * positions.sign()[..., None]


ANGLES: dict[str, Angles] = {
    "broadcast": lambda p, w: p[..., None] * w,
    "einsum": lambda p, w: torch.einsum("...,f->...f", p.to(w), w),
    "divided": lambda p, w: p[..., None] / (1.0 / w),
    "float64": lambda p, w: p.double()[..., None] * w.double(),
    "table": _from_a_table,
}

# ------------------------------------------------------------------ sinusoidal: angles -> (..., d)


def _slices(angles: Tensor) -> Tensor:
    code = torch.empty(*angles.shape[:-1], 2 * angles.shape[-1], dtype=angles.dtype)
    code[..., 0::2], code[..., 1::2] = angles.sin(), angles.cos()
    return code


def _phases(angles: Tensor) -> Tensor:
    phases = torch.tensor([0.0, math.pi / 2], dtype=angles.dtype, device=angles.device).repeat(angles.shape[-1])
    return torch.sin(angles.repeat_interleave(2, dim=-1) + phases)


CODES: dict[str, Code] = {
    "stacked": lambda a: torch.stack((a.sin(), a.cos()), dim=-1).flatten(-2),
    "slices": _slices,
    "phases": _phases,
    "polar": lambda a: torch.view_as_real(torch.polar(torch.ones_like(a), a)).flip(-1).flatten(-2),
    "exponential": lambda a: torch.view_as_real(torch.exp(1j * a)).flip(-1).flatten(-2),
}

# ------------------------------------------------------------------ RoPE: (x, angles) -> the shape of x


def _pairs(x: Tensor, a: Tensor) -> Tensor:
    x0, x1 = x[..., 0::2], x[..., 1::2]
    return torch.stack((x0 * a.cos() - x1 * a.sin(), x0 * a.sin() + x1 * a.cos()), dim=-1).flatten(-2)


def _swapped(x: Tensor, a: Tensor) -> Tensor:
    a = a.repeat_interleave(2, dim=-1)
    return x * a.cos() + torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2) * a.sin()


def _complex(x: Tensor, a: Tensor) -> Tensor:
    pairs = torch.view_as_complex(x.to(a.dtype).unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(a), a)).flatten(-2)


def _matrices(x: Tensor, a: Tensor) -> Tensor:
    rows = (torch.stack((a.cos(), -a.sin()), -1), torch.stack((a.sin(), a.cos()), -1))
    return (torch.stack(rows, -2) @ x.to(a.dtype).unflatten(-1, (-1, 2)).unsqueeze(-1)).flatten(-3)


def _in_float32(x: Tensor, a: Tensor) -> Tensor:
    return _pairs(x.float(), a.float())


def _tables_in_the_dtype_of_x(x: Tensor, a: Tensor) -> Tensor:
    cos, sin = a.cos().to(x.dtype), a.sin().to(x.dtype)
    x0, x1 = x.unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack((torch.addcmul(x0 * cos, x1, sin, value=-1), torch.addcmul(x1 * cos, x0, sin)), -1).flatten(-2)


def _radius_and_angle(x: Tensor, a: Tensor) -> Tensor:
    x0, x1 = x[..., 0::2].double(), x[..., 1::2].double()
    radius, angle = torch.hypot(x0, x1), torch.atan2(x1, x0) + a
    return torch.stack((radius * angle.cos(), radius * angle.sin()), dim=-1).flatten(-2)


TURNS: dict[str, Turn] = {
    "pairs": _pairs,
    "swapped": _swapped,
    "complex": _complex,
    "matrices": _matrices,
    "in float32": _in_float32,
    "tables in the dtype of x": _tables_in_the_dtype_of_x,
    "radius and angle": _radius_and_angle,
}


@dataclass(frozen=True)
class Formula:
    """One right way to write `sinusoidal` and `rope`."""

    name: str
    frequencies: Frequencies
    angles: Angles
    code: Code
    turn: Turn

    def sinusoidal(self, positions: Tensor, d: int, base: float = 10000.0) -> Tensor:
        """As in the handout."""
        return self.code(self._angles_of(positions, d, base))

    def rope(self, x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
        """As in the handout."""
        return self.turn(x, self._angles_of(positions, x.shape[-1], base)).to(x.dtype)

    def _angles_of(self, positions: Tensor, d: int, base: float) -> Tensor:
        if d % 2:
            raise ValueError(f"{d} features are no pairs")
        return self.angles(positions, self.frequencies(d, base))


def formulas() -> Iterator[Formula]:
    """Every combination; codes and turns go side by side, since no function has both."""
    layouts = list(itertools.zip_longest(CODES.items(), TURNS.items(), fillvalue=("stacked", CODES["stacked"])))
    for (f, frequencies), (a, angles) in itertools.product(FREQUENCIES.items(), ANGLES.items()):
        for (c, code), (t, turn) in layouts:
            yield Formula(f"{f}; {a}; {c} / {t}", frequencies, angles, code, turn)
