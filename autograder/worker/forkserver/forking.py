"""Forks that cost little: what libraries want done around each fork is left out of the fork server.

They renew locks (`logging`, `threading`, `concurrent.futures`), seed generators (`random`) and ask for the number of
threads (torch). The fork server has one thread, so that no lock can be held, and a worker seeds every generator; what
would be left is a copy of 350 pages, 2 of the 5 ms that a fork takes.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any


@contextmanager
def without_handlers() -> Generator[None]:
    """Whatever is imported inside registers nothing that runs around a fork."""
    register = os.register_at_fork
    os.register_at_fork = _ignore
    try:
        yield
    finally:
        os.register_at_fork = register


def _ignore(**_: Any) -> None:
    return None
