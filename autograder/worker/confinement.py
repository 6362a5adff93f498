"""Where a worker is put: what every layer is given. It does nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .protocol.commands import WorkerSpec


@dataclass(frozen=True)
class FileRules:
    """Which files Landlock opens, in the kernel's terms.

    `handled` is a struct landlock_ruleset_attr, `read_file`, `read_folder` and `write_folder` are access rights as
    bits. `common` is what is open to every worker, the installed libraries above all: each a struct
    landlock_path_beneath_attr with a descriptor of the fork server's.
    """

    handled: bytes
    read_file: int
    read_folder: int
    write_folder: int
    common: tuple[bytes, ...]


@dataclass(frozen=True)
class Prepared:
    """What the fork server has made ready before any fork, so that putting a layer on costs little.

    `program` is the seccomp filter as the kernel takes it, `files` what Landlock opens.
    `missing` names each layer that this machine cannot have, with the reason; nothing is prepared for those.
    """

    program: bytes = b""
    files: FileRules | None = None
    missing: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Placement:
    """`spec` as asked for, `uid` an id of its own (None: that of the fork server), `scratch` its writable folder.

    `number` is unlike that of any other worker of this fork server.
    """

    spec: WorkerSpec
    uid: int | None
    scratch: str | None
    prepared: Prepared = Prepared()
    number: int = 0

    def wants(self, layer: str) -> bool:
        """Whether a layer that not every machine has is to be put on."""
        return layer not in self.prepared.missing and layer not in self.spec.without
