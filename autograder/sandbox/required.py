"""The layers by name: what each keeps out, and in which profile grades that count cannot do without it.

A *profile* is what this machine and this user make possible. How layers are put on stands in `worker.layers`, how they
are proved in `proofs`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from autograder.errors import SoftmarkError

Profile = Literal["root", "user", "elsewhere"]
PROFILES: dict[Profile, str] = {
    "root": "root on Linux (a server, a container without namespaces)",
    "user": "an ordinary user on Linux",
    "elsewhere": "another system (macOS, Windows)",
}


@dataclass(frozen=True)
class Layer:
    """One layer. `required` are the profiles in which grades that count need it, `possible` those that can have it.

    `where` says where, of those in which it is possible and not required.
    """

    name: str
    keeps_out: str
    required: tuple[Profile, ...]
    possible: tuple[Profile, ...] = ("root", "user")
    where: str = "where the kernel has it"


LAYERS = (
    Layer("user-id", "files and processes of the grader and of other workers", ("root",), ("root",)),
    Layer("no-new-privileges", "set-user-id programs", ("root", "user")),
    Layer("limits", "memory, one huge file, endless descriptors, core dumps", ("root", "user")),
    Layer("environment", "variables and open files of the grader", ("root", "user")),
    Layer("seccomp", "network, new processes, other programs, other processes' memory", ("root", "user")),
    Layer("landlock", "files outside the libraries and the submission", ("user",)),
    Layer("namespaces", "network and files, should another layer fail", (), where="where bubblewrap works"),
    Layer(
        "control-group",
        "all memory, or a flood of processes, should the limits fail",
        (),
        where="where one can be made",
    ),
    Layer("hidden-material", "solutions and hidden checks", ("root", "user")),
    Layer("quota", "a full disk", ("root", "user")),
    Layer("kill", "processes that outlive their check", ("root", "user")),
    Layer("memory-account", "memory that is hidden from the allocation model", (), where="where seccomp guards it"),
)
NOT_EVERYWHERE = ("namespaces", "control-group")
"""A second wall: grades are as good without it, so that nobody is told at every run that there is none."""
NAMES = tuple(layer.name for layer in LAYERS)


def profile() -> Profile:
    """The profile of this process."""
    if sys.platform != "linux":
        return "elsewhere"
    return "root" if os.geteuid() == 0 else "user"


@dataclass(frozen=True)
class Finding:
    """Whether a layer is on, and how that was proved; where it is not, what is missing."""

    layer: str
    on: bool
    proof: str = ""
    missing: str = ""

    def __str__(self) -> str:
        return f"on ({self.proof})" if self.on else f"off ({self.missing})"


def required(name: str, here: Profile) -> bool:
    """Whether grades that count need the layer in this profile."""
    return any(layer.name == name and here in layer.required for layer in LAYERS)


def refuse_unknown(names: Sequence[str]) -> None:
    """Raises `SoftmarkError` for a name that is no layer's."""
    for name in names:
        if name not in NAMES:
            raise SoftmarkError(f"Unknown layer '{name}' (known are: {', '.join(NAMES)}).")


def refuse_missing(findings: Sequence[Finding], here: Profile, allowed: Sequence[str]) -> None:
    """Raises `SoftmarkError` where a layer that grades need is off and not `allowed` to be, by name."""
    refuse_elsewhere(here)
    for finding in findings:
        if not finding.on and required(finding.layer, here) and finding.layer not in allowed:
            raise SoftmarkError(
                f"Grades that count need the layer {finding.layer} of the sandbox, which is off here: "
                f"{finding.missing}. Fix that, or grade without it by --allow-missing {finding.layer}.",
                exit_code=1,
            )


def refuse_elsewhere(here: Profile) -> None:
    """Raises `SoftmarkError` where nothing confines student code."""
    if here == "elsewhere":
        raise SoftmarkError(
            f"Grades that count need Linux: on {sys.platform} nothing confines student code, and hidden checks stay "
            "closed. For practice there is softmark check --in-process.",
            exit_code=1,
        )
