"""What a forked worker does: confine itself, say that it is ready, answer requests until the grader hangs up.

Until `Ready` is sent no code of the student's has run: whatever goes wrong before is the grader's fault, and is told
as such. It returns to nobody: every way out is `os._exit`.

Here each object of Python's that is touched for the first time is a page of memory to be copied, 6 microseconds. So
what every worker has the same (`Prepared`, the generators' seeds, the output streams) the fork server makes before any
fork, and the set-up takes the shortest way to the kernel.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Sequence

from .confinement import Placement
from .executor import Executor, unreadable
from .forbidden import refuse
from .forkserver.processes import MOST_DESCRIPTORS
from .forkserver.quota import Maps
from .layers import LAYERS
from .layers.resources import STATM, StreamMemory, relieve
from .loader import GIVEN, Loader
from .output import Output
from .protocol.messages import CalledBack, Raised, Ready, Reply, Resume
from .protocol.wire import PREFIX, Part, Unencodable, decode_request, encode, frame_size, ticket_of
from .tracebacks import raised

# High numbers: student code that closes 0 to 100 (a daemon's habit) does not cut its own line.
_REQUESTS, _REPLIES = 1000, 1001
_CHUNK = 1 << 16
_NO_MEMORY = Raised(
    ("MemoryError", "Exception", "BaseException", "object"), "no memory was left, not even for the answer"
)
_READY = encode(Ready())


def run(placement: Placement, descriptors: Sequence[int], output: Output, maps: Maps) -> None:
    """Be the worker. `descriptors` are for requests, replies and output; every other one is closed. Never returns."""
    try:
        maps.hand_over(placement.number)
        _take_descriptors(descriptors)
        _set_up(placement)
        loader = Loader(placement.spec.folder, placement.spec.modules)
        executor = Executor(loader, StreamMemory(), refuse)
    except BaseException as error:
        _send(encode(raised(error, "")))
        os._exit(70)
    try:
        _send(_READY)
        with loader.installed():
            _answer(executor, output, loader.folder)
            os._exit(0)  # at once: to leave `installed` is to look at every module
    finally:
        os._exit(71)  # student code has closed the pipes, or broken what answering needs


def _take_descriptors(descriptors: Sequence[int]) -> None:
    """Put them where they belong.

    Standard input is opened anew: flags and locks of one that workers share would tell the next of the one before.
    """
    if max(descriptors) >= _REQUESTS:  # a target may be among the sources
        descriptors = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, _REPLIES + 1) for descriptor in descriptors]
    requests, replies, output = descriptors
    os.dup2(requests, _REQUESTS, False)
    os.dup2(replies, _REPLIES, False)
    os.dup2(output, 1)
    os.dup2(output, 2)
    nothing = os.open("/dev/null", os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


def _set_up(placement: Placement) -> None:
    os.setsid()
    _be_the_first_to_go()
    for put_on in LAYERS:
        put_on(placement)
    os.closerange(3, _REQUESTS)
    os.closerange(STATM + 1, MOST_DESCRIPTORS)
    scratch = placement.scratch
    os.environ["HOME"] = os.environ["TMPDIR"] = scratch or "/nonexistent"
    for path in placement.spec.readable:
        _check_readable(path)
    if scratch:
        _check_readable(scratch)
        os.chdir(scratch)
        _link_data_files(placement.spec.folder)


def _be_the_first_to_go() -> None:
    """Where a whole container runs out of memory, the kernel is to end this process and not the grader."""
    try:
        file = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        os.write(file, b"1000")
        os.close(file)
    except OSError:
        pass


def _link_data_files(folder: str) -> None:
    """Files beside the parts and in `given/` can be opened by their bare names, as on the student's own machine."""
    for entry in os.scandir(folder):
        if entry.name == GIVEN or (entry.is_file() and not entry.name.endswith(".py")):
            os.symlink(entry.path, entry.name)


def _check_readable(path: str) -> None:
    """Raises `PermissionError` that names `path`, or the first folder on the way to it that is closed."""
    try:
        os.close(os.open(path, os.O_RDONLY))
        if not os.access(path, os.X_OK) and stat.S_ISDIR(os.stat(path).st_mode):
            raise PermissionError(path)
    except PermissionError:
        raise PermissionError(_first_closed(path)) from None


def _first_closed(path: str) -> str:
    walked = "/"
    for step in path.strip("/").split("/"):
        try:
            os.stat(os.path.join(walked, step))
        except PermissionError:
            return walked
        walked = os.path.join(walked, step)
    return path


def _answer(executor: Executor, output: Output, folder: str) -> None:
    own = os.getpid()
    ticket = 0

    def ask(message: CalledBack) -> Resume:
        nonlocal ticket
        if os.getpid() != own:
            os._exit(0)
        parts = encode(message, ticket)
        output.flush()
        _send(parts)
        frame = _read_frame()
        if frame is None:
            os._exit(0)
        ticket = ticket_of(frame)
        resumed = decode_request(frame)
        if not isinstance(resumed, Resume):
            os._exit(71)
        return resumed

    while (frame := _read_frame()) is not None:
        try:
            ticket = ticket_of(frame)
            request = decode_request(frame)
            del frame  # it may be large, and what follows is limited in memory
            executor.ask = ask
            reply = executor.carry_out(request)
            executor.ask = None
            parts = _encoded(executor, reply, folder, ticket)
            del request
        except MemoryError:
            relieve()
            parts = encode(_NO_MEMORY, ticket)
        if os.getpid() != own:  # student code forked, and this is the copy: only one may answer
            os._exit(0)
        output.flush()
        _send(parts)
        reply = parts = None


def _encoded(executor: Executor, reply: Reply, folder: str, ticket: int) -> Sequence[Part]:
    try:
        try:
            return encode(reply, ticket)
        except Unencodable as error:
            readable = executor.readable(reply)
            return encode(readable or unreadable(error), ticket)
    except Unencodable as error:
        return encode(unreadable(error), ticket)
    except MemoryError:
        raise
    except Exception as error:  # student code has changed what encoding needs
        return encode(raised(error, folder), ticket)


def _read_frame() -> bytearray | None:
    frame = bytearray()
    wanted = PREFIX
    while len(frame) < wanted:
        block = os.read(_REQUESTS, min(_CHUNK, wanted - len(frame)))
        if not block:
            return None
        frame += block
        if len(frame) == PREFIX:
            wanted = frame_size(frame)
    return frame


def _send(parts: Sequence[Part]) -> None:
    for part in parts:
        view = memoryview(part)
        while view:
            view = view[os.write(_REPLIES, view) :]
