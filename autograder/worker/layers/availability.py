"""Which of the two layers that not every machine has can be put on here: prepared, then tried in a process of its own.

What the layers keep out is proved by `sandbox.probes.proofs`.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from ..confinement import Placement, Prepared
from ..protocol.commands import WorkerSpec
from . import landlock, privileges, seccomp


def prepared(runtime: str) -> Prepared:
    """What workers will need. Call it before torch is loaded: it forks to try."""
    missing: dict[str, str] = {}
    program, files = b"", None
    try:
        program = seccomp.prepare()
    except Exception as error:
        missing[seccomp.NAME] = _reason(error)
    try:
        files = landlock.prepare(runtime)
    except Exception as error:
        missing[landlock.NAME] = _reason(error)
    ready = Prepared(program, files, missing)
    placement = Placement(WorkerSpec(folder="/", modules=()), None, None, ready)
    for name, put_on in ((seccomp.NAME, seccomp.put_on), (landlock.NAME, landlock.put_on)):
        if name not in missing and (reason := _tried(lambda put_on=put_on: put_on(placement))):
            missing[name] = reason
    return ready


def _tried(put_on: Callable[[], None]) -> str:
    """What went wrong when a process put the layer on; "" when nothing did."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            privileges.refuse_new()
            put_on()
            os._exit(0)
        except BaseException as error:
            os.write(write, _reason(error).encode()[:4000])
            os._exit(1)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        said = file.read().decode("utf-8", "replace")
    failed = os.waitpid(child, 0)[1] != 0
    return said or ("a process that put it on died" if failed else "")


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
