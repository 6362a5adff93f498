"""Namespaces around the fork server, by bubblewrap: no network, and a file system that holds libraries and little else.

A second wall behind the layers that workers put on themselves, where bubblewrap is installed and may be used (not in an
ordinary container). The fork server gives up every capability but those it works with. It is tried before it is
relied on; what it keeps out is proved in `proofs`. Process ids stay those of the machine: the grader reads /proc.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

NAME = "namespaces"
_CAPABILITIES = ("SETUID", "SETGID", "KILL", "CHOWN", "DAC_OVERRIDE", "FOWNER")
_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"),
    *("/etc/ld.so.cache", "/etc/localtime", "/sys/devices/system"),
)
_TRIAL = "import ctypes, os, sys; [os.stat(path) for path in sys.argv[1:]]"
_TRIAL_SECONDS = 20.0


@dataclass(frozen=True)
class Namespaces:
    """`command` begins the fork server's command line, empty where there are none; `missing` says why."""

    command: tuple[str, ...] = ()
    missing: str = ""


def around(python: str, runtime: Path, libraries: Sequence[str]) -> Namespaces:
    """The namespaces for a fork server that runs `python` with `libraries`, and writes into `runtime` alone."""
    program = shutil.which("bwrap")
    if program is None:
        return Namespaces(missing="bubblewrap is not installed")
    command = (program, *_arguments(python, runtime, libraries))
    reason = _tried(command, python, (str(runtime), *libraries))
    return Namespaces(missing=f"bubblewrap does not work here ({reason})") if reason else Namespaces(command)


def _arguments(python: str, runtime: Path, libraries: Sequence[str]) -> list[str]:
    arguments = ["--unshare-net", "--unshare-ipc", "--unshare-uts", "--chdir", "/"]
    arguments += ["--cap-drop", "ALL"]
    if os.geteuid() == 0:
        arguments += [word for name in _CAPABILITIES for word in ("--cap-add", f"CAP_{name}")]
    for path in _SYSTEM:
        if os.path.islink(path):
            arguments += ["--symlink", os.readlink(path), path]
        elif os.path.exists(path):
            arguments += ["--ro-bind", path, path]
    arguments += ["--ro-bind", "/proc", "/proc", "--dev", "/dev"]
    folders = [*_of_python(python), *libraries, tempfile.gettempdir()]
    for folder in folders:
        arguments += ["--ro-bind", os.path.realpath(folder), folder]
    arguments += ["--bind", os.path.realpath(runtime), str(runtime)]
    for parent in _made_by_the_way([*folders, str(runtime), *filter(os.path.exists, _SYSTEM)]):
        arguments += ["--chmod", "0755", parent]
    return [*arguments, "--"]


def _of_python(python: str) -> list[str]:
    """The folders that `python` runs from, in a virtual environment and out of it, beyond those of the system."""
    prefixes = {sys.prefix, sys.base_prefix, sysconfig.get_path("stdlib"), str(Path(python).parent)}
    return sorted(prefix for prefix in prefixes if not prefix.startswith(tuple(f"{each}/" for each in _SYSTEM)))


def _made_by_the_way(folders: Iterable[str]) -> list[str]:
    """Parents of what is bound that bubblewrap makes itself, closed to others: outermost first."""
    bound = {*folders, "/proc", "/dev"}
    parents = {str(parent) for folder in bound for parent in Path(folder).parents}
    return sorted(
        parent
        for parent in parents - bound - {"/"}
        if not any(parent.startswith(f"{other}/") for other in bound if other != "/")
    )


def _tried(command: Sequence[str], python: str, paths: Sequence[str]) -> str:
    """What is wrong where Python does not start inside, or does not find `paths`; "" where nothing is."""
    try:
        done = subprocess.run(
            [*command, python, "-I", "-S", "-B", "-c", _TRIAL, *paths],
            capture_output=True,
            env={"PATH": "/usr/bin:/bin"},
            cwd="/",
            timeout=_TRIAL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return type(error).__name__
    if done.returncode == 0:
        return ""
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return said[-1][:200] if said else f"exit status {done.returncode}"
