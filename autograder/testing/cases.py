"""The inputs that checks are tried on: the same for every student and every run, drawn from small to large.

Each draw has a generator of its own, seeded by HMAC(key, check, number of the draw), so that what one check draws moves
no other's. The numbers are the same to the last bit on every processor and with every version of torch: they are made
from the raw bits of Philox (Salmon et al. 2011) by integer arithmetic and sums alone. torch's own generators differ
between processors. Sizes within a case are pairwise different, so that an exchanged axis cannot pass. Dtypes are always
named: a submission may change torch's default.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

Shape = Sequence[int]

SIZES_OF_ATTENTION: tuple[tuple[tuple[int, ...], int, int, int, int], ...] = (
    # leading axes, n_q, n_k, d_k, d_v
    ((), 3, 1, 2, 5),
    ((), 1, 2, 3, 4),
    ((1,), 4, 3, 2, 5),
    ((), 5, 7, 11, 13),
    ((2,), 5, 7, 11, 13),
    ((2, 3), 5, 7, 11, 13),
)

_READABLE = 16
_LARGE = 4096


class Cases:
    """Draws for one check.

    Args:
        key: the assignment's key for visible or for hidden checks.
        check: the name of the check (and of the item, where it is parametrised).
    """

    def __init__(self, key: bytes, check: str) -> None:
        self._key = key
        self._check = check
        self._draws = 0

    def _generator(self) -> np.random.Philox:
        """A fresh generator for the next draw."""
        message = f"{self._check}\0{self._draws}".encode()
        self._draws += 1
        digest = hmac.new(self._key, message, hashlib.sha256).digest()
        return np.random.Philox(key=int.from_bytes(digest[:16], "little"))

    def tensor(self, *shape: int, dtype: torch.dtype = torch.float32, scale: float = 1.0) -> Tensor:
        """Numbers of mean 0 and standard deviation `scale`, nearly normal: sums of twelve uniform ones, in float64.

        They are rounded to `dtype` at the end. None is further than 6 `scale` from 0. At most 16 of them at once are
        multiples of 1/8, so that a small case can be read and typed.
        """
        total, generator = np.zeros(math.prod(shape)), self._generator()
        at_once = 12 if total.size < _LARGE else 1  # large ones stay in the processor's cache one by one
        for _ in range(0, 12, at_once):
            for uniform in _uniform(generator, (at_once, total.size)):
                total += uniform
        total -= 6.0
        normal = torch.from_numpy(total).reshape(shape)
        if normal.numel() <= _READABLE and scale == 1.0:
            normal = (normal * 8).round() / 8
        return (normal * scale).to(dtype)

    def uniform(self, *shape: int, low: float, high: float, dtype: torch.dtype = torch.float32) -> Tensor:
        """Numbers spread evenly over [low, high)."""
        drawn = torch.from_numpy(_uniform(self._generator(), shape))
        return (low + (high - low) * drawn).to(dtype)

    def integers(self, *shape: int, low: int, high: int) -> Tensor:
        """int64 numbers in low .. high - 1."""
        raw = self._generator().random_raw(math.prod(shape)) % np.uint64(high - low)
        return torch.from_numpy(raw.astype(np.int64)).reshape(shape) + low

    def permutation(self, n: int) -> Tensor:
        """An order of 0 .. n - 1 in which nothing stays, and which for n > 2 is not its own inverse: (n,) int64."""
        if n < 2:
            raise ValueError(f"{n} things have no order in which nothing stays")
        generator = self._generator()
        identity = torch.arange(n)
        while True:
            order = _order(generator, n)
            if bool((order != identity).all()) and (n == 2 or bool((order[order] != identity).any())):
                return order

    def mask(self, *shape: int) -> Tensor:
        """A boolean mask, about half of it True; each row (last axis, longer than 1) has a True and a False."""
        generator = self._generator()
        mask = torch.from_numpy(_uniform(generator, shape) < 0.5)
        rows = mask.reshape(-1, shape[-1])
        for row in rows:
            seen, hidden = _order(generator, shape[-1])[:2]
            row[seen], row[hidden] = True, False
        return rows.reshape(shape)

    def attention(
        self, dtype: torch.dtype = torch.float32, scale: float = 1.0, most_axes: int = 4, least_keys: int = 1
    ) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Queries (..., n_q, d_k), keys (..., n_k, d_k) and values (..., n_k, d_v), from small to large.

        Args:
            dtype: of all three.
            scale: standard deviation of all three.
            most_axes: leave out cases with more axes than this.
            least_keys: leave out cases with fewer keys than this.
        """
        for leading, n_q, n_k, d_k, d_v in SIZES_OF_ATTENTION:
            if len(leading) + 2 > most_axes or n_k < least_keys:
                continue
            yield (
                self.tensor(*leading, n_q, d_k, dtype=dtype, scale=scale),
                self.tensor(*leading, n_k, d_k, dtype=dtype, scale=scale),
                self.tensor(*leading, n_k, d_v, dtype=dtype, scale=scale),
            )


def _uniform(generator: np.random.Philox, shape: Shape) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Multiples of 2^-53 in [0, 1)."""
    raw = generator.random_raw(math.prod(shape)).reshape(shape)
    raw >>= np.uint64(11)
    drawn = raw.astype(np.float64)
    drawn *= 2.0**-53
    return drawn


def _order(generator: np.random.Philox, n: int) -> Tensor:
    """An order of 0 .. n - 1: (n,) int64."""
    return torch.from_numpy(np.argsort(generator.random_raw(n), kind="stable"))
