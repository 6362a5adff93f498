"""A selection of hostile submissions under another profile: `python -m tests.hostile.confined PROFILE FOLDER`.

*container*: root with Docker's 14 default capabilities and what its default seccomp profile refuses, put on by hand (no
AppArmor, no masked /proc). *user*: an ordinary user. Prints what is not as it should be, one a line.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

ORDINARY_USER = 61_234
CAPABILITIES = (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31)
REFUSED = """
    acct add_key bpf clock_adjtime clock_settime delete_module fanotify_init finit_module fsconfig fsmount fsopen
    fspick get_mempolicy init_module io_uring_enter io_uring_register io_uring_setup ioperm iopl kcmp
    kexec_file_load kexec_load keyctl lookup_dcookie mbind mount mount_setattr move_mount move_pages nfsservctl
    open_by_handle_at open_tree perf_event_open pivot_root quotactl quotactl_fd reboot request_key set_mempolicy
    setns settimeofday swapoff swapon sysfs syslog umount2 unshare userfaultfd ustat vhangup
"""
CLONE_NEW = 0x7E020000
_LIBC = ctypes.CDLL(None, use_errno=True)


def into_a_container() -> None:
    """Give up what Docker takes away."""
    import pyseccomp as seccomp

    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    rules.set_attr(seccomp.Attr.CTL_NNP, 0)
    for name in REFUSED.split():
        if seccomp.resolve_syscall(seccomp.system_arch(), name) != -1:
            rules.add_rule(seccomp.ERRNO(1), name)
    for bit in range(32):
        if CLONE_NEW >> bit & 1:
            rules.add_rule(seccomp.ERRNO(1), "clone", seccomp.Arg(0, seccomp.MASKED_EQ, 1 << bit, 1 << bit))
    rules.add_rule(seccomp.ERRNO(38), "clone3")
    rules.load()
    for capability in range(64):
        if capability not in CAPABILITIES:
            _LIBC.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP; past the last one it fails
    kept = sum(1 << capability for capability in CAPABILITIES)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)(kept, kept, 0, 0, 0, 0)
    if _LIBC.capset(header, data) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def into_an_ordinary_user(folder: Path) -> None:
    os.chown(folder, ORDINARY_USER, ORDINARY_USER)
    os.setgroups([])
    os.setresgid(*[ORDINARY_USER] * 3)
    os.setresuid(*[ORDINARY_USER] * 3)
    os.environ.update(HOME=str(folder), TMPDIR=str(folder))


def main(profile: str, folder: Path) -> None:
    into_a_container() if profile == "container" else into_an_ordinary_user(folder)
    from autograder.session import Session
    from tests.hostile.assignment import hostile_assignment
    from tests.hostile.remains import remains
    from tests.hostile.soak import times
    from tests.hostile.test_kinds import QUICK, graded, judged

    kinds = QUICK[:: times(1, 20)]
    assignment = hostile_assignment(folder)
    with Session() as session:
        session.wait_ready()
        session.prove(assignment)
        faults = judged(kinds, graded(kinds, assignment, folder, session)) + remains(session)
    print(f"{len(kinds)} kinds")
    print("\n".join(faults))


if __name__ == "__main__":
    os.umask(0o022)
    main(sys.argv[1], Path(sys.argv[2]))
