"""Where a worker is put: what every layer is given. It does nothing."""

from __future__ import annotations

from dataclasses import dataclass

from .commands import WorkerSpec


@dataclass(frozen=True)
class Placement:
    """`spec` as asked for, `uid` an id of its own (None: that of the fork server), `scratch` its writable folder."""

    spec: WorkerSpec
    uid: int | None
    scratch: str | None
