"""Exhaustion: time, memory, descriptors, files, threads, output. Kinds that wait are graded with a short wall limit."""

# ruff: noqa: E501

from __future__ import annotations

from tests.hostile.kinds import ALL, RIGHT, WRONG, Kind

KINDS = [
    Kind("endless_loop", 0, WRONG + "def double(x):\n    while True:\n        pass\n"),
    Kind("endless_import", 0, "while True:\n    pass\n"),
    Kind("endless_in_native_code", 0, WRONG + "import re\ndef double(x):\n    re.match('(a*)*$', 'a' * 40 + 'b')\n"),
    Kind("swallows_everything", 0, WRONG + """
def double(x):
    while True:
        try: 1 / 0
        except BaseException: pass
"""),
    Kind("computes_in_threads", 0, WRONG + """
import threading, time
def spin():
    x = torch.ones(200, 200)
    while True: x @ x
def double(x):
    for _ in range(4): threading.Thread(target=spin, daemon=True).start()
    time.sleep(600)
"""),
    Kind("raises_its_own_limits", 0, WRONG + """
import resource
for name in ("RLIMIT_CPU", "RLIMIT_AS", "RLIMIT_NPROC", "RLIMIT_FSIZE", "RLIMIT_NOFILE"):
    try: resource.setrlimit(getattr(resource, name), (resource.RLIM_INFINITY,) * 2)
    except (ValueError, OSError): continue
    print("BREACH")
def double(x):
    while True: pass
"""),
    Kind("sleeps", 0, WRONG + "import time\ndef double(x):\n    time.sleep(600)\n", waits=True),
    Kind("stops_itself", 0, WRONG + "import os\ndef double(x):\n    os.kill(os.getpid(), 19)\n", waits=True),
    Kind("ignores_signals_and_waits", 0, WRONG + """
import signal, time
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
def double(x):
    while True: time.sleep(60)
""", waits=True),
    Kind("reads_its_input", 0, WRONG + "def double(x):\n    return input()\n"),
    Kind("waits_for_a_lock", 0, WRONG + """
import threading
lock = threading.Lock()
def double(x):
    with lock, lock: pass
""", waits=True),
    Kind("drips_an_answer", 0, WRONG + """
import os, time
def double(x):
    os.write(1001, (1000).to_bytes(8, "little") + (100).to_bytes(8, "little") + bytes(8))
    while True:
        os.write(1001, b"x")
        time.sleep(0.01)
""", waits=True),
    Kind("floods_its_output_from_threads", 0, WRONG + """
import fcntl, os, threading
def flood():
    block = b"x" * (1 << 20)
    while True: os.write(1, block)
def double(x):
    try: fcntl.fcntl(1, 1031, 1 << 20)
    except OSError: pass
    for _ in range(3): threading.Thread(target=flood, daemon=True).start()
    flood()
"""),
    Kind("floods_the_line_of_answers", 0, WRONG + """
import os
def double(x):
    while True: os.write(1001, b"\\xff" * 65536)
"""),
    Kind("announces_an_endless_answer", 0, WRONG + """
import os
def double(x):
    os.write(1001, b"\\xff" * 24)
    return x
"""),
    Kind("prints_megabytes", ALL, RIGHT + "print('passed ' * 500_000)\n"),
    Kind("prints_without_a_line_end", ALL, RIGHT + "import sys\nsys.stdout.write('p' * 100_000)\nsys.stderr.write('\\0')\n"),
    Kind("closes_its_line", 0, WRONG + "import os\ndef double(x):\n    os.close(1001)\n    os.close(1000)\n"),
    Kind("closes_everything_at_import", 0, RIGHT + "import os\nos.closerange(0, 5000)\n"),
    Kind("closes_what_daemons_close", ALL, RIGHT + "import os\nos.closerange(0, 101)\n"),
    Kind("replaces_its_output", ALL, RIGHT + """
import sys
class Broken:
    def __getattr__(self, name): raise SystemExit(name)
sys.stdout = sys.stderr = sys.__stdout__ = Broken()
"""),
    Kind("eats_memory", 0, WRONG + """
def double(x):
    kept = []
    while True: kept.append(torch.zeros(1 << 20))
"""),
    Kind("eats_memory_and_swallows_the_error", 0, WRONG + """
kept = []
def double(x):
    size = 1 << 26
    while size > 16:
        try: kept.append(bytearray(size))
        except MemoryError: size //= 2
    return [bytearray(100) for _ in range(10 ** 6)]
"""),
    Kind("eats_memory_at_import", 0, "kept = [bytearray(1 << 20) for _ in range(10 ** 6)]\n"),
    Kind("makes_many_small_maps", ALL, RIGHT + """
import mmap
maps = []
try:
    while len(maps) < 70_000: maps.append(mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
except (OSError, MemoryError, ValueError): pass
if len(maps) == 70_000: print("BREACH")
maps.clear()
"""),
    Kind("opens_everything", ALL, RIGHT + """
import os
opened = []
try:
    while len(opened) < 5000: opened.append(os.open("/dev/null", 0))
except OSError: pass
if len(opened) > 1000: print("BREACH")
"""),
    Kind("keeps_data_in_pipes", ALL, RIGHT + """
import fcntl, os
kept, stored = [], 0
try:
    while stored < 1 << 30:
        kept.append(os.pipe())
        fcntl.fcntl(kept[-1][1], 1031, 1 << 20)
        os.set_blocking(kept[-1][1], False)
        stored += os.write(kept[-1][1], bytes(1 << 20))
except OSError: pass
if stored > 1 << 28: print("BREACH")
"""),
    Kind("fills_the_disk", 0, RIGHT + """
number = 0
while True:
    number += 1
    with open(f"file{number}", "wb") as file: file.write(bytes(1 << 20))
"""),
    Kind("writes_one_huge_file", ALL, RIGHT + """
try:
    with open("file", "wb") as file:
        for _ in range(40): file.write(bytes(1 << 20))
    print("BREACH")
except OSError: pass
import os
os.unlink("file")
"""),
    Kind("fills_the_disk_with_deleted_files", 0, RIGHT + """
kept = []
while True:
    kept.append(open("file", "wb", buffering=0))
    __import__("os").unlink("file")
    for _ in range(4): kept[-1].write(bytes(1 << 20))
    __import__("time").sleep(0.004)
"""),
    # Who may not look into another's descriptors does not see these files: few of them can be open at once.
    Kind("fills_the_disk_with_files_without_a_name", 0, RIGHT + """
import os, time
kept = []
try:
    while len(kept) < 100:
        kept.append(open(f"file{len(kept)}", "wb", buffering=0))
        os.unlink(kept[-1].name)
        kept[-1].write(bytes(1 << 20))
    print("BREACH")
except OSError: pass
time.sleep(0.5)
""", as_user=ALL, in_container=ALL),
    Kind("fills_the_disk_with_files_of_which_a_page_is_mapped", 0, RIGHT + """
import ctypes, os, time
libc = ctypes.CDLL(None)
for _ in range(60):
    with open("file", "w+b", buffering=0) as file:
        file.write(bytes(8 << 20))
        libc.mmap(None, ctypes.c_size_t(4096), 1, 1, file.fileno(), ctypes.c_long(0))
    os.unlink("file")
time.sleep(0.5)
print("BREACH")
"""),
    Kind("maps_deleted_files_of_odd_names", ALL, RIGHT + """
import ctypes, os, time
libc = ctypes.CDLL(None)
for name in ("a\\rb", "a\\nb", "\\r(deleted)", " ", "a (deleted)"):
    with open(name, "w+b", buffering=0) as file:
        file.write(b"x")
        libc.mmap(None, ctypes.c_size_t(4096), 1, 1, file.fileno(), ctypes.c_long(0))
    os.unlink(name)
time.sleep(0.2)
"""),
    Kind("uses_up_inodes", 0, RIGHT + """
number = 0
while True:
    number += 1
    open(f"file{number}", "w").close()
"""),
    Kind("thread_bomb", ALL, RIGHT + """
import threading, time
try:
    for number in range(1000): threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    print("BREACH")
except (RuntimeError, MemoryError): pass
"""),
    Kind("fork_bomb", ALL, RIGHT + """
import os
for _ in range(50):
    try:
        if os.fork() == 0: os._exit(0)
        print("BREACH")
    except OSError: pass
"""),
    Kind("sets_a_trace_function", ALL, RIGHT + """
import sys, threading
def trace(frame, event, argument):
    if "CAN" + "ARY" in repr(frame.f_code.co_consts): print("BREACH")
    return trace
sys.settrace(trace)
"""),
    Kind("trace_function_that_raises", 0, RIGHT + """
import sys
def trace(frame, event, argument): raise SystemExit(0)
def double(x):
    sys.setprofile(trace)
    return 2 * x
class Counter:
    def __init__(self, start): sys.settrace(trace)
"""),
    Kind("collector_that_raises", ALL, RIGHT + """
import gc
gc.callbacks.append(lambda *a: 1 / 0)
class Cycle:
    def __init__(self): self.me = self
    def __del__(self): raise SystemExit(0)
for _ in range(100): Cycle()
gc.set_threshold(1)
"""),
    Kind("interrupts_itself", ALL, RIGHT + """
import signal
signal.signal(signal.SIGALRM, lambda *a: None)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
"""),
    Kind("makes_timers_without_end", ALL, RIGHT + """
import ctypes, os
libc, timer, made = ctypes.CDLL(None), ctypes.c_int(), 0
quiet = (ctypes.c_int * 16)(0, 0, 0, 1)  # struct sigevent: SIGEV_NONE
while made < 20_000 and libc.syscall(ctypes.c_long({"x86_64": 222}.get(os.uname().machine, 107)), 1, quiet, ctypes.byref(timer)) == 0: made += 1
if made > 1000: print("BREACH", made)
"""),
    Kind("segmentation_fault", 0, WRONG + "import ctypes\ndef double(x):\n    ctypes.string_at(0)\n"),
    Kind("segmentation_fault_at_import", 0, RIGHT + "import ctypes\nctypes.string_at(0)\n"),
    Kind("segmentation_fault_that_is_caught", 0, WRONG + """
import ctypes, signal
def double(x):
    signal.signal(signal.SIGSEGV, signal.SIG_IGN)
    ctypes.string_at(0)
"""),
    Kind("calls_of_another_architecture", 0, WRONG + """
import ctypes, mmap
def double(x):
    code = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7)
    code.write(b"\\xb8\\x02\\x00\\x00\\x00\\xcd\\x80\\xc3")  # fork, by the 32-bit entry of the kernel
    if ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))() > 0:
        print("BREACH")
"""),
    Kind("calls_of_half_another_architecture", 0, WRONG + """
import ctypes, os
def double(x):
    if os.uname().machine == "x86_64" and ctypes.CDLL(None).syscall(ctypes.c_long(0x40000000 | 57)) > 0:  # fork, of x32
        print("BREACH")
    return x
"""),
    Kind("goes_on_without_its_main_thread", 0, RIGHT + """
import ctypes, sys, threading, time
def double(x):
    frame = sys._getframe()
    while frame.f_code.co_name != "_answer": frame = frame.f_back
    known = dict(frame.f_locals)
    child, messages = sys.modules["softmark_worker.child"], sys.modules["softmark_worker.protocol.messages"]
    def go_on():
        time.sleep(1)
        child._send(child.encode(messages.Returned(2 * x), known["ticket"]))
        child._answer(known["executor"], known["output"], known["folder"])
    threading.Thread(target=go_on).start()
    libc = ctypes.CDLL(None)
    libc.syscall(ctypes.c_long({"x86_64": 60}.get(__import__("os").uname().machine, 93)), 0)
Counter = None
"""),
    Kind("aborts", 0, WRONG + "import os\ndef double(x):\n    os.abort()\n"),
    Kind("kills_itself", 0, WRONG + "import os\ndef double(x):\n    os.kill(os.getpid(), 9)\n"),
    Kind("patched_clocks", ALL, RIGHT + "import time\ntime.time = time.monotonic = time.perf_counter = lambda: 0.0\n"),
    Kind("changes_what_torch_does", ALL, RIGHT + """
torch.set_default_dtype(torch.float16)
torch.set_grad_enabled(False)
torch.set_num_threads(1)
torch.manual_seed(0)
"""),
]  # fmt: skip
