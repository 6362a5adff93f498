"""Reaching out: theft of hidden material, attacks on the grader and the fork server, the network, what stays behind."""

# ruff: noqa: E501

from __future__ import annotations

from tests.hostile.kinds import ALL, RIGHT, TRIED, Kind, attempts

# x86-64 numbers; on another machine they mean other calls, and the kinds are left out.
SYSTEM_CALLS = (
    ("ptrace_of_the_parent", "101, 16, os.getppid(), 0, 0"),
    ("memory_of_the_parent_by_process_vm_readv", "310, os.getppid(), 0, 0, 0, 0, 0"),
    ("descriptors_of_the_parent_by_pidfd", "434, os.getppid(), 0"),
    ("shared_memory_that_stays", "29, 4711, 4096, 0o1600"),
    ("semaphores_that_stay", "64, 4711, 1, 0o1600"),
    ("message_queue_that_stays", "68, 4711, 0o1600"),
    ("posix_queue_that_stays", "240, ctypes.addressof(ctypes.create_string_buffer(b'queue')), 0o100, 0o600, 0"),
    ("key_that_stays", "248, *[ctypes.addressof(ctypes.create_string_buffer(b'user'))] * 3, 4, -4"),
    ("memory_file", "319, ctypes.addressof(ctypes.create_string_buffer(b'x')), 0"),
    ("secret_memory_file", "447, 0"),
    ("io_uring", "425, 8, ctypes.addressof(ctypes.create_string_buffer(200))"),
    ("bpf", "321, 0, 0, 0"),
    ("user_faults", "323, 0"),
    ("performance_events", "298, ctypes.addressof(ctypes.create_string_buffer(200)), 0, -1, -1, 0"),
    ("new_namespaces", "272, 0x10000000"),
    ("new_mounts", "165, 0, 0, 0, 0, 0"),
    ("new_root", "161, ctypes.addressof(ctypes.create_string_buffer(b'/'))"),
    ("file_by_handle", "304, -100, 0, 0"),
    ("vfork_by_number", "58"),
    ("clone_by_number", "56, 17, 0, 0, 0, 0"),
    ("dumpable_again", "157, 4, 1, 0, 0, 0"),
    ("orphans_adopted", "157, 36, 1, 0, 0, 0"),
    ("outlives_its_parent", "157, 1, 0, 0, 0, 0"),
    ("signal_to_the_parent_by_queue", "129, os.getppid(), 9, ctypes.addressof(ctypes.create_string_buffer(128))"),
    ("flushes_every_disk", "162"),
    ("open_files_of_one_thread_alone", "436, 5000, 5000, 2"),
    ("input_and_output_behind_its_back", "206, 8, ctypes.addressof(ctypes.create_string_buffer(8))"),
    ("a_core_of_its_own", "157, 62, 1, 0, 0, 0"),
    ("room_on_the_disk_at_once", "285, os.open('file', 66, 0o600), 0, 0, 1 << 20"),
    ("pages_paged_out", "28, libc.valloc(4096) & ~4095, 4096, 21"),
    ("options_of_a_socket", "54, 0, 1, 26, 0, 0"),
    ("rules_of_its_own_in_the_kernels_memory", "444, 0, 0, 1"),
    ("clock_of_the_machine", "227, 0, ctypes.addressof(ctypes.create_string_buffer(16))"),
)

KINDS = [
    *(
        Kind(name, ALL, RIGHT + TRIED + f"if os.uname().machine == 'x86_64':\n    tried(syscall, {call})\n")
        for name, call in SYSTEM_CALLS
    ),
    *attempts(
        ("reads_the_hidden_check", "for name in ('test_numbers_part.py', 'key'): tried(read, '{hidden}/' + name)"),
        ("lists_the_hidden_checks", "tried(os.listdir, '{hidden}')"),
        ("reads_the_solution", "tried(read, '{solutions}/numbers_part.py')"),
        ("links_to_the_solution", "os.symlink('{solutions}/numbers_part.py', 'link'); tried(read, 'link')"),
        ("hard_links_the_solution", "tried(os.link, '{solutions}/numbers_part.py', 'link')"),
        ("reads_passwords", "tried(read, '/etc/shadow')"),
        ("reads_the_home_of_root", "tried(os.listdir, '/root')"),
        ("reads_other_submissions", "tried(os.listdir, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))"),
        ("lists_temporary_files", "import sys\nif tried(os.listdir, '/tmp'): pass"),
        ("memory_of_the_parent", "tried(read, f'/proc/{os.getppid()}/mem')"),
        ("environment_of_the_parent", "tried(read, f'/proc/{os.getppid()}/environ')"),
        ("descriptors_of_the_parent", "tried(os.listdir, f'/proc/{os.getppid()}/fd')"),
        ("root_folder_of_the_parent", "tried(os.listdir, f'/proc/{os.getppid()}/root')"),
        ("own_memory_by_proc", "tried(open, '/proc/self/mem', 'r+b')"),
        ("own_peak_made_smaller", "tried(write, '/proc/self/clear_refs')"),
        ("processes_of_the_machine", "tried(os.listdir, '/proc')"),
        ("device_memory", "tried(read, '/dev/mem'); tried(read, '/dev/kmsg')"),
        ("attributes_of_the_machine", "tried(write, '/proc/sys/kernel/core_pattern')"),
        ("inherited_descriptors", """
for number in [*range(3, 1000), *range(1002, 1100)]:
    try:
        content = os.pread(number, 1 << 20, 0)
    except OSError:
        continue
    if b"CAN" + b"ARY" in content or len(content) > 200: print("BREACH", number)
"""),
        ("inherited_objects", """
import gc
for each in gc.get_objects():
    inside = list(each.values()) if type(each) is dict else list(each) if type(each) in (list, tuple) else []
    if any(type(one) in (str, bytes) and "YRANAC" in str(one)[::-1] for one in inside): print("BREACH")
"""),
        ("frames_above", """
frame = sys._getframe()
while frame is not None:
    if any("CAN" + "ARY" in str(value) for name, value in frame.f_locals.items() if name != "frame"): print("BREACH")
    if "/assignments/" in frame.f_code.co_filename: print("BREACH")
    frame = frame.f_back
"""),
        ("modules_of_the_grader", "for name in ('autograder', 'reference', 'tests'): tried(__import__, name)"),
        ("environment", "import os\nif any('SOFTMARK' in n or 'TOKEN' in n or 'PYTEST' in n for n in os.environ): print('BREACH')"),
        ("kills_the_fork_server", "tried(os.kill, os.getppid(), 9)"),
        ("stops_the_fork_server", "tried(os.kill, os.getppid(), 19)"),
        ("kills_the_killer", "for pid in range(os.getppid() + 1, os.getppid() + 10): tried(os.kill, pid, 9)"),
        ("kills_everything", "tried(os.kill, -1, 9); tried(os.killpg, os.getpgid(os.getppid()), 9)"),
        ("limits_the_parent", "import resource\ntried(resource.prlimit, os.getppid(), resource.RLIMIT_CPU, (1, 1))"),
        ("moves_the_parent", "tried(os.sched_setaffinity, os.getppid(), {0}); tried(os.setpriority, 0, os.getppid(), 19)"),
        ("slows_everything_of_its_user", "tried(os.setpriority, os.PRIO_USER, 0, 19)"),
        ("speeds_itself_up", "tried(os.nice, -5)"),
        ("becomes_root", "tried(os.setuid, 0); tried(os.setgid, 0); tried(os.setgroups, [0])"),
        ("starts_a_shell", "tried(os.execv, '/bin/sh', ['sh']); tried(os.posix_spawn, '/bin/sh', ['sh'], {})"),
        ("starts_a_program", "import subprocess\ntried(subprocess.run, ['true'])"),
        ("starts_a_program_by_the_c_library", "if libc.system(b'true') == 0: print('BREACH')"),
        ("starts_processes", "import multiprocessing\ntried(multiprocessing.get_context('spawn').Process(target=print).start)"),
        ("starts_a_daemon", "tried(os.fork); tried(os.forkpty)"),
        ("opens_a_connection", "import socket\ntried(socket.create_connection, ('127.0.0.1', 22), 1)"),
        ("opens_a_datagram_socket", "import socket\ntried(socket.socket, socket.AF_INET, socket.SOCK_DGRAM)"),
        ("opens_a_local_socket", "import socket\ntried(socket.socket, socket.AF_UNIX)"),
        ("opens_a_kernel_socket", "import socket\ntried(socket.socket, socket.AF_NETLINK, socket.SOCK_RAW)"),
        ("asks_for_a_name", "import socket\ntried(socket.gethostbyname, 'example.org')"),
        ("downloads", "import urllib.request\ntried(urllib.request.urlopen, 'http://169.254.169.254/', None, 1)"),
        ("sends_datagrams_by_a_pair", "import socket\ntried(socket.socketpair, socket.AF_UNIX, socket.SOCK_DGRAM)"),
        ("writes_to_shared_places", "for p in ('/tmp/x', '/dev/shm/x', '/var/tmp/x', '/run/lock/x', '/x'): tried(write, p)"),
        ("shared_memory_by_name", "from multiprocessing import shared_memory\ntried(shared_memory.SharedMemory, 'x', True, 9)"),
        ("named_semaphore", "import multiprocessing\ntried(multiprocessing.get_context('fork').Lock)"),
        ("poisons_compilers_caches", "tried(os.makedirs, '/tmp/torchinductor_root'); tried(os.makedirs, '/root/.triton')"),
        ("poisons_byte_code", "tried(os.makedirs, os.path.dirname(os.path.abspath(__file__)) + '/__pycache__')"),
        ("poisons_the_libraries", "tried(write, torch.__file__); tried(write, os.__file__)"),
        ("changes_its_own_file", "tried(write, __file__); tried(os.unlink, __file__); tried(os.rename, __file__, 'x.py')"),
        ("changes_the_checks", "tried(write, '{checks}/test_numbers_part.py'); tried(write, '{checks}/conftest.py')"),
        ("reaches_the_workers_own_code", "tried(write, sys.modules['softmark_worker.protocol.wire'].__file__)"),
        ("leaves_the_scratch_folder", "tried(write, '../x'); tried(os.listdir, '..'); tried(os.rename, '.', '../x')"),
        ("makes_devices_and_pipes", "tried(os.mknod, 'x', 0o20600, 0x103); tried(os.mkfifo, 'y')"),
        ("makes_its_file_set_user_id", "write('x'); os.chmod('x', 0o4755)\nif os.stat('x').st_mode & 0o4000: print('BREACH')"),
        ("gives_its_file_away", "write('x'); tried(os.chown, 'x', 0, 0)"),
        ("attributes_on_files", "write('x'); tried(os.setxattr, 'x', 'user.x', b'1')"),
        ("watches_files", "watch = libc.inotify_init()\nif libc.inotify_add_watch(watch, b'{checks}', 2) >= 0: print('BREACH')"),
        ("sets_flags_of_a_library", "import fcntl, struct\ntried(fcntl.ioctl, open(os.__file__), 0x40086602, struct.pack('l', 0x40))"),
        ("empties_files_by_name", "for path in (torch.__file__, os.__file__, __file__): tried(os.truncate, path, 0)"),
        ("owns_signals_of_the_parent", "import fcntl\ntried(fcntl.fcntl, 0, 8, os.getppid())"),
        ("stops_others_who_open_a_library", """
import fcntl, glob
for path in glob.glob(os.path.dirname(os.__file__) + "/a*.py"):
    for kind in (fcntl.F_RDLCK, fcntl.F_WRLCK): tried(fcntl.fcntl, open(path), 1024, kind)
"""),
        ("hears_of_changes_in_folders", "import fcntl\ntried(fcntl.fcntl, os.open(os.path.dirname(os.__file__), 0), 1026, 0x80000001)"),
        ("socket_pairs_of_every_family", """
for family in [*range(2, 46)]:
    pair = (ctypes.c_int * 2)()
    if libc.socketpair(family, 1, 0, pair) == 0 or ctypes.get_errno() != 1: print("BREACH", family, ctypes.get_errno())
"""),
        ("memory_that_outlives_its_mapping", """
import mmap
tried(mmap.mmap, -1, 4096)
tried(lambda: mmap.mmap(os.open("/dev/zero", os.O_RDWR), 4096))
tried(mmap.mmap, -1, 1 << 21, 0x40022)
"""),
        ("fills_pipes_behind_the_accounts_back", """
ends = os.pipe()
if hasattr(os, "splice"): tried(os.splice, os.open(os.__file__, os.O_RDONLY), ends[1], 4096)
"""),
        ("another_personality", "if libc.personality(0x0040000) != -1: print('BREACH')"),
    ),
    Kind("leaves_files_behind", ALL, RIGHT + """
import os
os.makedirs("/".join(["deep"] * 200))
for name in (b"a\\nb", b"\\xff\\xfe", b"-rf", b"*", b"'; rm"):
    open(name, "w").close()
os.symlink("/", "root")
os.symlink("loop", "loop")
os.symlink("{checks}", "checks")
"""),
    # An ordinary user's fork server cannot look into it, and so ends who made it.
    Kind("leaves_a_closed_folder_behind", ALL, RIGHT + """
import os, time
os.mkdir("closed", 0o300)
open("closed/file", "w").close()
os.mkdir("empty", 0o000)
time.sleep(1)
""", as_user=0),
    Kind("leaves_a_lock_behind", ALL, RIGHT + """
import fcntl
kept = open(torch.__file__)
try: fcntl.flock(kept, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError: pass
"""),
    Kind("leaves_timers_behind", ALL, RIGHT + """
import signal, threading
threading.Timer(600, print).start()
signal.setitimer(signal.ITIMER_REAL, 600)
"""),
    Kind("leaves_hooks_behind", ALL, RIGHT + """
import sys, threading
sys.meta_path.insert(0, type("F", (), {"find_spec": staticmethod(lambda *a: None)}))
sys.excepthook = sys.unraisablehook = threading.excepthook = lambda *a: print("BREACH")
sys.path[:] = ["/nonexistent"]
sys.modules["torch"] = sys.modules["json"] = None
"""),
    Kind("leaves_its_session", ALL, RIGHT + """
import os
for action in (os.setsid, os.setpgrp):
    try: action()
    except OSError: pass
"""),
]  # fmt: skip
