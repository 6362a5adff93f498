"""Seccomp: which system calls a worker may make. No network, no new process, no other program, nobody else's process.

Compiled once, in the fork server, by libseccomp (pyseccomp); a worker fills in its process id and hands it to the
kernel. It names what is refused and lets the rest through: threads, files (`landlock`'s business), memory, signals to
oneself. A kernel's system calls that are newer than this list do not exist for a worker.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Sequence
from typing import Any

from ..confinement import Placement

NAME = "seccomp"
_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2
_INSTRUCTION = 8  # bytes, struct sock_filter
_OWN_PID = 0x5AFE_C0DE  # stands for the worker's process id until that is known
_INT = 0xFFFF_FFFF  # the kernel looks at the low half of an int argument, whatever the high half holds
_CLONE_FILES, _CLONE_THREAD = 0x400, 0x10000
_FIRST_UNKNOWN, _LAST_UNKNOWN = 457, 511  # numbers that are the same on every architecture
_UNKNOWN_NAME = -1
_LIBC = ctypes.CDLL(None, use_errno=True)

_NETWORK = "socket connect bind listen accept accept4 sendmsg sendmmsg setsockopt"
_PROCESSES = "fork vfork execve execveat unshare setns"
_OTHERS = """ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp pidfd_open pidfd_getfd
    pidfd_send_signal tkill setpriority sched_setscheduler sched_setattr sched_setparam ioprio_set migrate_pages
    move_pages get_robust_list perf_event_open lookup_dcookie"""
_OUTLIVING = """memfd_create memfd_secret shmget shmat shmctl shmdt semget semop semtimedop semctl msgget msgsnd msgrcv
    msgctl mq_open mq_unlink add_key request_key keyctl"""
_KERNEL = """io_uring_setup io_uring_enter io_uring_register bpf userfaultfd personality modify_ldt
    name_to_handle_at open_by_handle_at fanotify_init fanotify_mark inotify_add_watch mknod mknodat chown lchown
    fchown fchownat setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr io_setup remap_file_pages
    uselib truncate truncate64"""  # a file by its name, of which Landlock knows since kernel 6.2 only
# A worker is confined by now. Rules of its own would be memory of the kernel's, a hundred bytes each, without a bound.
_CONFINING = "landlock_create_ruleset landlock_add_rule landlock_restrict_self"
# They fill pipes without a trace in the kernel's account of what a process writes.
_UNCOUNTED = "splice tee vmsplice"
_MACHINE = """mount umount2 pivot_root chroot mount_setattr open_tree move_mount fsopen fsconfig fsmount fspick acct
    swapon swapoff reboot init_module finit_module delete_module kexec_load kexec_file_load quotactl quotactl_fd syslog
    sethostname setdomainname settimeofday clock_settime clock_adjtime adjtimex iopl ioperm vhangup sync syncfs"""
# What is free on the machine and what its page cache holds; also a second name of a file, which the file counts.
_STORED = "mincore cachestat sysinfo statfs fstatfs statfs64 fstatfs64 ustat sysfs link linkat"
_REFUSED = " ".join(
    (_NETWORK, _PROCESSES, _OTHERS, _OUTLIVING, _KERNEL, _CONFINING, _UNCOUNTED, _MACHINE, _STORED)
).split()
# clone3's arguments are out of a filter's reach; the C library does without.
_ABSENT = ["clone3", "fchmodat2"]
# A gigabyte of the disk for each millisecond. (posix_fallocate would write zeros instead, but it asks statfs first, and
# fails.)
_UNSUPPORTED = ["fallocate"]
# What copies a file sets modes and times. It is told that they are set: Landlock does not look at these.
# Nor does a lock take hold: the next worker could see it, on a file that both may open. Nor is anything written back
# to the disk or read ahead from it: what is in the page cache stays as it is.
_PRETENDED = """chmod fchmod fchmodat utime utimes utimensat futimesat flock fsync fdatasync msync sync_file_range
    sync_file_range2 fadvise64 arm_fadvise64_64 readahead"""
_ONLY_ONESELF = ["kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"]
# What is set for other processes or known of them. The first argument is a process; or the second is.
_ONLY_ZERO = """prlimit64 sched_setaffinity sched_getaffinity sched_getscheduler sched_getparam sched_getattr
    sched_rr_get_interval getsid getpgid"""
_ONLY_ZERO_SECOND = "getpriority ioprio_get"
_CLOCKS = "clock_gettime clock_gettime64 clock_getres clock_getres_time64 clock_nanosleep timer_create"
_CLOCK_OF_A_PROCESS = 0x8000_0000  # a negative number: the processor time of any process, or a device
# First argument, second argument: PR_SET_PDEATHSIG, DUMPABLE, CHILD_SUBREAPER, SCHED_CORE, PTRACER; F_SETOWN, F_SETSIG,
# F_SETOWN_EX, F_SETLEASE (it would stop others who open a library's file), F_NOTIFY; FIOSETOWN, SIOCSPGRP, FIOASYNC,
# TIOCSTI, and what the owner of a file may set through a descriptor for reading (FS_IOC_SETFLAGS, _SETVERSION,
# _FSSETXATTR, _ENABLE_VERITY, _SET_ENCRYPTION_POLICY); every kind of socket pair but a stream.
_PRCTL = (1, 4, 36, 62, 0x59616D61)
_FCNTL = (8, 10, 15, 1024, 1026)
_FCNTL_LOCKS = (6, 7, 37, 38)  # F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW
_IOCTL = (
    *(0x8901, 0x8902, 0x5452, 0x5412),
    *(0x40086602, 0x40046602, 0x40086604, 0x40046604, 0x401C5820, 0x40806685, 0x800C6613),
)
_SOCKETPAIR = (2, 3, 4, 5, 6, 10)
_CLOSE_RANGE = (2, 3, 6, 7)  # UNSHARE: open files of one thread's own, which nobody would count
_AF_UNIX = 1
# Memory that the kernel's account of a process does not show: MAP_SHARED with MAP_ANONYMOUS (it outlives its pages'
# mapping), MAP_HUGETLB; MADV_PAGEOUT.
_MMAP = (0x21, 0x40000)
_MADVISE = (21,)
_MADVISE_PRETENDED = (3, 20)  # WILLNEED and COLD: they move what is in the page cache


def prepare() -> bytes:
    """The filter as the kernel takes it. Raises `OSError` or `ImportError` where there is no libseccomp."""
    try:
        import pyseccomp as seccomp
    except RuntimeError as error:  # how it says that the library is not installed
        raise ImportError(str(error)) from None
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    rules.set_attr(seccomp.Attr.CTL_OPTIMIZE, 2)
    _add(rules, seccomp.ERRNO(errno.EPERM), _REFUSED)
    _add(rules, seccomp.ERRNO(errno.ENOSYS), _ABSENT)
    _add(rules, seccomp.ERRNO(errno.EOPNOTSUPP), _UNSUPPORTED)
    _add(rules, seccomp.ERRNO(0), _PRETENDED.split())
    _add(rules, seccomp.ERRNO(errno.EPERM), _ONLY_ONESELF, seccomp.Arg(0, seccomp.NE, _OWN_PID))
    _add(rules, seccomp.ERRNO(errno.EPERM), _ONLY_ZERO.split(), seccomp.Arg(0, seccomp.NE, 0))
    _add(rules, seccomp.ERRNO(errno.EPERM), _ONLY_ZERO_SECOND.split(), seccomp.Arg(1, seccomp.NE, 0))
    _add(rules, seccomp.ERRNO(errno.EOPNOTSUPP), ["preadv2", "pwritev2"], seccomp.Arg(5, seccomp.NE, 0))
    other_clock = seccomp.Arg(0, seccomp.MASKED_EQ, _CLOCK_OF_A_PROCESS, _CLOCK_OF_A_PROCESS)
    _add(rules, seccomp.ERRNO(errno.EINVAL), _CLOCKS.split(), other_clock)
    _add(rules, seccomp.ERRNO(errno.EPERM), ["clone"], seccomp.Arg(0, seccomp.MASKED_EQ, _CLONE_THREAD, 0))
    _add(rules, seccomp.ERRNO(errno.EPERM), ["clone"], seccomp.Arg(0, seccomp.MASKED_EQ, _CLONE_FILES, 0))
    for name, argument, mask, values in (
        ("prctl", 0, _INT, _PRCTL),
        ("fcntl", 1, _INT, _FCNTL),
        ("ioctl", 1, _INT, _IOCTL),
        ("socketpair", 1, 0xF, _SOCKETPAIR),
        ("madvise", 2, _INT, _MADVISE),
        ("close_range", 2, _INT, _CLOSE_RANGE),
    ):
        for value in values:
            _add(rules, seccomp.ERRNO(errno.EPERM), [name], seccomp.Arg(argument, seccomp.MASKED_EQ, mask, value))
    for value in _MADVISE_PRETENDED:
        _add(rules, seccomp.ERRNO(0), ["madvise"], seccomp.Arg(2, seccomp.MASKED_EQ, _INT, value))
    for value in _FCNTL_LOCKS:
        _add(rules, seccomp.ERRNO(0), ["fcntl"], seccomp.Arg(1, seccomp.MASKED_EQ, _INT, value))
    _add(rules, seccomp.ERRNO(errno.EPERM), ["socketpair"], seccomp.Arg(0, seccomp.NE, _AF_UNIX))
    for bits in _MMAP:
        _add(rules, seccomp.ERRNO(errno.EPERM), ["mmap", "mmap2"], seccomp.Arg(3, seccomp.MASKED_EQ, bits, bits))
    for number in range(_FIRST_UNKNOWN, _LAST_UNKNOWN + 1):
        rules.add_rule(seccomp.ERRNO(errno.ENOSYS), number)
    with open(os.memfd_create("filter"), "rb") as file:  # tempfile would settle workers' folder for such files
        rules.export_bpf(file)
        file.seek(0)
        return file.read()


def _add(rules: Any, action: int, names: Sequence[str], *arguments: Any) -> None:
    import pyseccomp

    for name in names:
        if pyseccomp.resolve_syscall(pyseccomp.system_arch(), name) != _UNKNOWN_NAME:  # it is newer than libseccomp
            rules.add_rule(action, name, *arguments)


def put_on(placement: Placement) -> None:
    """Have the kernel refuse what the filter names. Needs `privileges` to be on. Raises `OSError`."""
    if placement.wants(NAME):
        load(placement.prepared.program)


def load(program: bytes) -> None:
    """Hand the filter to the kernel, with this process's id in its places."""
    filled = program.replace(struct.pack("=I", _OWN_PID), struct.pack("=I", os.getpid()))
    instructions = ctypes.create_string_buffer(filled, len(filled))
    header = _Program(len(filled) // _INSTRUCTION, ctypes.cast(instructions, ctypes.c_void_p))
    if _LIBC.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(header), 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl(PR_SET_SECCOMP): {os.strerror(number)}")


class _Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))
