"""A process as Docker starts one, by hand: its 14 default capabilities, its default seccomp profile.

The profile is that of moby/profiles (seccomp/default.json, 2026) for x86-64 and arm64, on a kernel later than 4.8 and
without further capabilities. AppArmor's profile, masked paths below /proc and a read-only /sys are not put on.
"""

from __future__ import annotations

import ctypes

CAPABILITIES = (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31)
ALLOWED = """
    accept accept4 access adjtimex alarm bind brk cachestat capget capset chdir chmod chown clock_adjtime clock_getres
    clock_gettime clock_nanosleep close close_range connect copy_file_range creat dup dup2 dup3 epoll_create
    epoll_create1 epoll_ctl epoll_ctl_old epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2 execve
    execveat exit exit_group faccessat faccessat2 fadvise64 fallocate fanotify_mark fchdir fchmod fchmodat fchmodat2
    fchown fchownat fcntl fdatasync fgetxattr flistxattr flock fork fremovexattr fsetxattr fstat fstatfs fsync ftruncate
    futex futex_requeue futex_wait futex_waitv futex_wake futimesat getcpu getcwd getdents getdents64 getegid geteuid
    getgid getgroups getitimer getpeername getpgid getpgrp getpid getppid getpriority getrandom getresgid getresuid
    getrlimit get_robust_list getrusage getsid getsockname getsockopt get_thread_area gettid gettimeofday getuid
    getxattr getxattrat inotify_add_watch inotify_init inotify_init1 inotify_rm_watch io_cancel ioctl io_destroy
    io_getevents io_pgetevents ioprio_get ioprio_set io_setup io_submit kill landlock_add_rule landlock_create_ruleset
    landlock_restrict_self lchown lgetxattr link linkat listen listmount listxattr listxattrat llistxattr lremovexattr
    lseek lsetxattr lstat madvise map_shadow_stack membarrier memfd_create memfd_secret mincore mkdir mkdirat mknod
    mknodat mlock mlock2 mlockall mmap mprotect mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend mq_unlink
    mremap mseal msgctl msgget msgrcv msgsnd msync munlock munlockall munmap name_to_handle_at nanosleep newfstatat open
    openat openat2 pause pidfd_open pidfd_send_signal pipe pipe2 pkey_alloc pkey_free pkey_mprotect poll ppoll prctl
    pread64 preadv preadv2 prlimit64 process_mrelease pselect6 pwrite64 pwritev pwritev2 read readahead readlink
    readlinkat readv recvfrom recvmmsg recvmsg remap_file_pages removexattr removexattrat rename renameat renameat2
    restart_syscall rmdir rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend
    rt_sigtimedwait rt_tgsigqueueinfo sched_getaffinity sched_getattr sched_getparam sched_get_priority_max
    sched_get_priority_min sched_getscheduler sched_rr_get_interval sched_setaffinity sched_setattr sched_setparam
    sched_setscheduler sched_yield seccomp select semctl semget semop semtimedop sendfile sendmmsg sendmsg sendto
    setfsgid setfsuid setgid setgroups setitimer setpgid setpriority setregid setresgid setresuid setreuid setrlimit
    set_robust_list setsid setsockopt set_thread_area set_tid_address setuid setxattr setxattrat shmat shmctl shmdt
    shmget shutdown sigaltstack signalfd signalfd4 socketpair splice stat statfs statmount statx symlink symlinkat sync
    sync_file_range syncfs sysinfo tee tgkill time timer_create timer_delete timer_getoverrun timer_gettime
    timer_settime timerfd_create timerfd_gettime timerfd_settime times tkill truncate umask uname unlink unlinkat
    uretprobe utime utimensat utimes vfork vmsplice wait4 waitid write writev process_vm_readv process_vm_writev ptrace
    arch_prctl modify_ldt chroot
"""
SOCKET_FAMILIES = (*range(12), *range(13, 19), 21, 22, 24, *range(26, 34), 35, 36, 39, *range(41, 46))
PERSONALITIES = (0, 8, 0x20000, 0x20008, 0xFFFFFFFF)
CLONE_NEW = 0x7E020000
EPERM, ENOSYS = 1, 38
_FIRST_UNKNOWN, _LAST_UNKNOWN = 463, 511  # what is newer than a profile is said not to exist
_PR_CAPBSET_DROP = 24
_LIBC = ctypes.CDLL(None, use_errno=True)


def into_a_container(landlock: bool = True) -> None:
    """Give up what Docker takes away; without `landlock`, be on a kernel that has none."""
    _load_filter(landlock)
    for capability in range(64):
        if capability not in CAPABILITIES:
            _LIBC.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)  # past the last one it fails
    kept = sum(1 << capability for capability in CAPABILITIES)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)(kept, kept, 0, 0, 0, 0)
    if _LIBC.capset(header, data) != 0:
        raise OSError(ctypes.get_errno(), "capset")


def _load_filter(landlock: bool) -> None:
    import pyseccomp as seccomp

    rules = seccomp.SyscallFilter(seccomp.ERRNO(EPERM))
    rules.set_attr(seccomp.Attr.CTL_NNP, 0)
    machine = seccomp.system_arch()
    for name in ALLOWED.split():
        if name.startswith("landlock_") and not landlock:
            rules.add_rule(seccomp.ERRNO(ENOSYS), name)
        elif seccomp.resolve_syscall(machine, name) >= 0:  # some are of one architecture only, or newer than libseccomp
            rules.add_rule(seccomp.ALLOW, name)
    for family in SOCKET_FAMILIES:
        rules.add_rule(seccomp.ALLOW, "socket", seccomp.Arg(0, seccomp.EQ, family))
    for personality in PERSONALITIES:
        rules.add_rule(seccomp.ALLOW, "personality", seccomp.Arg(0, seccomp.EQ, personality))
    rules.add_rule(seccomp.ALLOW, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, CLONE_NEW, 0))
    rules.add_rule(seccomp.ERRNO(ENOSYS), "clone3")
    for number in range(_FIRST_UNKNOWN, _LAST_UNKNOWN + 1):
        rules.add_rule(seccomp.ERRNO(ENOSYS), number)
    rules.load()
