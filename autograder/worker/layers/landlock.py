"""Landlock: which files a worker may open. It reads the libraries and its submission, and writes its scratch folder.

Where the kernel knows how (ABI 4, 6), it also refuses TCP, signals to processes outside and abstract sockets. Landlock
does not hide that a file exists, nor close a descriptor that is open.

What a kernel knows is looked up once, in the fork server (landlockpy), where the files that all workers read are opened
too; a worker only makes the system calls.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import struct
import sys
import sysconfig

from ..confinement import FileRules, Placement

NAME = "landlock"
_SHARED_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")
_SYSTEM = ("/usr/share/zoneinfo",)
# Of the processor only what never changes: the folders around these files hold counters. What else torch asks about
# it, the fork server has asked.
_PROCESSOR = tuple(f"/sys/devices/system/cpu/{name}" for name in ("possible", "present", "online", "kernel_max"))
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/localtime", "/dev/urandom", "/dev/random", *_PROCESSOR)
# Folders of torch that no import reads: ten thousand headers, programs.
_NOT_IMPORTED = ("include", "share", "bin", "test")
_HIGH = 1100  # above the descriptors of the lines
_MOST_LIBRARIES = 50  # of those that lie in /usr/lib itself: each is a rule of its own
# System calls, the same on every architecture, and a kind of rule: linux/landlock.h.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1
_RULE = struct.Struct("=Qi")  # landlock_path_beneath_attr: access rights, a descriptor
_LIBC = ctypes.CDLL(None, use_errno=True)


def prepare(runtime: str) -> FileRules:
    """What is handled and what is open to every worker: the folders of what is installed, some files of the system.

    `runtime`, which holds the workers' own code, is none of them. Raises `OSError` or `ImportError` where there is no
    Landlock.
    """
    import landlockpy
    from landlockpy import AccessFS, Scope

    abi = landlockpy.abi_version()
    if abi < 1:
        raise OSError("this kernel has no Landlock")
    known = landlockpy.fs_for_abi(abi)
    scoped = landlockpy.scope_for_abi(abi) & (Scope.SIGNAL | Scope.ABSTRACT_UNIX_SOCKET)
    read = AccessFS.READ_FILE | AccessFS.READ_DIR
    change = AccessFS.WRITE_FILE | AccessFS.TRUNCATE | AccessFS.REMOVE_FILE | AccessFS.REMOVE_DIR | AccessFS.REFER
    make = AccessFS.MAKE_REG | AccessFS.MAKE_DIR | AccessFS.MAKE_SYM  # no devices, pipes and sockets; no program is run
    read_file, read_folder = int(AccessFS.READ_FILE & known), int(read & known)
    write_file = int((AccessFS.READ_FILE | AccessFS.WRITE_FILE) & known)
    common = [(path, read_folder if os.path.isdir(path) else read_file) for path in opened_to_all(runtime)]
    common += [(path, int(AccessFS.READ_DIR & known)) for path in sys.path if path != runtime]  # imports list them
    common += [*((path, read_file) for path in _SYSTEM_FILES), ("/dev/null", write_file)]
    opened = [(access, _out_of_the_way(_opened(path))) for path, access in common]
    return FileRules(
        handled=struct.pack("=QQQ", known, landlockpy.net_for_abi(abi), scoped)[: 8 * _fields(abi)],
        read_file=read_file,
        read_folder=read_folder,
        write_folder=int((read | change | make) & known),
        common=tuple(_RULE.pack(access, parent) for access, parent in opened if parent is not None),
    )


def _fields(abi: int) -> int:
    """How many fields of struct landlock_ruleset_attr a kernel of this ABI has: files, then network, then scopes."""
    return 1 if abi < 4 else 2 if abi < 6 else 3


def opened_to_all(runtime: str) -> tuple[str, ...]:
    """The files and folders that imports need: the standard library, installed packages, shared libraries."""
    candidates = [*_SYSTEM, os.path.dirname(os.__file__)]
    for path in sys.path:
        if os.path.isdir(os.path.join(path, "torch")):
            candidates += (entry.path for entry in os.scandir(path) if entry.name != "torch")
            path = os.path.join(path, "torch")
            candidates += (entry.path for entry in os.scandir(path) if entry.name not in _NOT_IMPORTED)
        elif path != runtime:
            candidates.append(path)
    for path in _SHARED_LIBRARIES:
        candidates += _shared_libraries(path)
    found = sorted({os.path.realpath(path) for path in candidates if os.path.exists(path)})
    return tuple(path for path in found if not any(path.startswith(other + os.sep) for other in found))


def _shared_libraries(folder: str) -> list[str]:
    """Where the folder of this architecture lies inside (Debian), that and single files; else the whole folder."""
    inside = os.path.join(folder, sysconfig.get_config_var("MULTIARCH") or "none")
    if not os.path.isdir(inside) and folder != "/usr/local/lib":
        return [folder]
    single = [entry.path for entry in os.scandir(folder) if ".so" in entry.name] if os.path.isdir(folder) else []
    return [inside, *single] if len(single) <= _MOST_LIBRARIES else [folder]


def put_on(placement: Placement) -> None:
    """Close every file but those that are needed. Needs `privileges` to be on. Raises `OSError`."""
    rules = placement.prepared.files
    if rules is None or not placement.wants(NAME):
        return
    ruleset = _call(_CREATE_RULESET, rules.handled, len(rules.handled), 0)
    try:
        for rule in rules.common:
            _call(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
        _allow(ruleset, placement.spec.folder, rules.read_folder)
        for path in placement.spec.readable:
            _allow(ruleset, path, rules.read_folder if os.path.isdir(path) else rules.read_file)
        if placement.scratch:
            _allow(ruleset, placement.scratch, rules.write_folder)
        _call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, access: int) -> None:
    parent = _opened(path)
    if parent is not None:
        _call(_ADD_RULE, ruleset, _PATH_BENEATH, _RULE.pack(access, parent), 0)
        os.close(parent)


def _opened(path: str) -> int | None:
    """A descriptor of `path` that gives no access to it; None where there is none.

    What a worker's user cannot reach needs no opening: `child` names it where it is needed.
    """
    try:
        return os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None


def _out_of_the_way(descriptor: int | None) -> int | None:
    """The same under a high number: a worker may have few files open, by their numbers, and needs one for its rules."""
    if descriptor is None:
        return None
    with contextlib.suppress(OSError):  # the fork server itself may have few
        high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH)
        os.close(descriptor)
        return high
    return descriptor


def _call(number: int, *arguments: int | bytes) -> int:
    result = _LIBC.syscall(number, *arguments)
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"landlock ({number}): {os.strerror(error)}")
    return result
