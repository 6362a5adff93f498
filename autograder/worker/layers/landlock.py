"""Landlock: which files a worker may open. It reads the libraries and its submission, and writes its scratch folder.

Where the kernel knows how (ABI 4, 6), it also refuses TCP, signals to processes outside and abstract sockets. Landlock
does not hide that a file exists, nor close a descriptor that is open.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from ..placement import Placement

if TYPE_CHECKING:
    from landlockpy import AccessFS, Ruleset

NAME = "landlock"
# What torch asks about the processor, some operations not before they are first used, and fail without it.
_PROCESSOR = ("/sys/devices/system/cpu", "/sys/devices/system/node")
_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share/zoneinfo", *_PROCESSOR)
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/localtime", "/dev/urandom", "/dev/random", "/dev/zero", "/proc/cpuinfo")


def prepare(runtime: str) -> tuple[str, ...]:
    """The folders of what is installed; `runtime`, which holds the workers' own code, is none of them.

    Raises `OSError` or `ImportError` where there is no Landlock.
    """
    import landlockpy

    landlockpy.abi_version()
    candidates = (*_SYSTEM, os.path.dirname(os.__file__), *(path for path in sys.path if path != runtime))
    folders = sorted({os.path.realpath(path) for path in candidates if os.path.isdir(path)})
    return tuple(path for path in folders if not any(path.startswith(other + os.sep) for other in folders))


def put_on(placement: Placement) -> None:
    """Close every file but those that are needed. Needs `privileges` to be on. Raises `OSError`."""
    if not placement.wants(NAME):
        return
    from landlockpy import AccessFS, Ruleset, Scope

    read = AccessFS.READ_FILE | AccessFS.READ_DIR
    with Ruleset(scoped=Scope.SIGNAL | Scope.ABSTRACT_UNIX_SOCKET) as rules:
        for folder in (*placement.prepared.libraries, placement.spec.folder):
            _allow(rules, folder, read)
        for path in placement.spec.readable:
            _allow(rules, path, read if os.path.isdir(path) else AccessFS.READ_FILE)
        for file in _SYSTEM_FILES:
            _allow(rules, file, AccessFS.READ_FILE)
        _allow(rules, "/dev/null", AccessFS.READ_FILE | AccessFS.WRITE_FILE)
        if placement.scratch:
            _allow(rules, placement.scratch, _everything_but_special_files())
        rules.restrict()


def _everything_but_special_files() -> AccessFS:
    """No devices, pipes and sockets, and no program is run."""
    from landlockpy import AccessFS

    change = AccessFS.WRITE_FILE | AccessFS.TRUNCATE | AccessFS.REMOVE_FILE | AccessFS.REMOVE_DIR | AccessFS.REFER
    make = AccessFS.MAKE_REG | AccessFS.MAKE_DIR | AccessFS.MAKE_SYM
    return AccessFS.READ_FILE | AccessFS.READ_DIR | change | make


def _allow(rules: Ruleset, path: str, access: AccessFS) -> None:
    try:
        rules.allow_path(path, access)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return  # what this user cannot reach needs no opening: `child` names it where it is needed
