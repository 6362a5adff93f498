"""Whether the long tests run: `make soak` sets SOFTMARK_SOAK, and then the full counts run, else a tenth of them."""

from __future__ import annotations

import os

SOAK = os.environ.get("SOFTMARK_SOAK", "") not in ("", "0")


def times(full: int, short: int | None = None) -> int:
    """How often: `full` in `make soak`, else `short`, or a tenth."""
    return full if SOAK else full // 10 if short is None else short
