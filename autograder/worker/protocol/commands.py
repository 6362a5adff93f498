"""What the grader asks of the fork server, and what it answers: small msgpack messages on a SOCK_SEQPACKET socket.

Only the grader and the fork server speak this; no byte of a student's is ever in it. The messages between grader and
worker are in `messages`.
"""

from __future__ import annotations

from typing import Union

import msgspec

MAX_COMMAND = 1 << 16


class WorkerSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker gets.

    Args:
        folder: the submission's parts. modules: their names.
        memory_bytes: how far its address space may grow beyond what it was at the fork; 0 for no limit.
        cpu_seconds: back-stop for its whole life, set inside the kernel (SIGXCPU); the grader measures and kills
            before.
        processes: processes and threads of its user id. open_files: file descriptors.
        scratch_bytes: of its own writable folder, one file or all together; 0 for no such folder.
        readable: files and folders that it must be able to read, or it does not start.
        without: names of layers to leave off (to prove that it is they that hold).
    """

    folder: str
    modules: tuple[str, ...]
    memory_bytes: int = 256 << 20
    cpu_seconds: int = 3600
    processes: int = 64
    open_files: int = 64
    scratch_bytes: int = 0
    readable: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


class Spawn(msgspec.Struct, frozen=True, tag=True):
    """Fork a worker. Comes with three descriptors: it reads requests, writes replies, writes its output. `Spawned`."""

    spec: WorkerSpec


class End(msgspec.Struct, frozen=True, tag=True):
    """Kill everything of the worker `worker`. Answered by `Ended`, once nothing is left."""

    worker: int


class Warm(msgspec.Struct, frozen=True, tag=True):
    """Import `modules` before further workers are forked, so that none of them pays for it. Not answered."""

    modules: tuple[str, ...]


class Bye(msgspec.Struct, frozen=True, tag=True):
    """End all workers, remove the runtime folder, exit. Only on the control socket."""


class Connect(msgspec.Struct, frozen=True, tag=True):
    """A new connection; comes with its socket. Only on the control socket. `Hello` on the new socket, when warm."""


class Hello(msgspec.Struct, frozen=True, tag=True):
    """The fork server is warm.

    `identities` says how workers get user ids: "high", "low", or "none". `missing` names the layers that this machine
    cannot have, each with the reason.
    """

    pid: int
    identities: str
    threads: int
    missing: dict[str, str] = {}


class Spawned(msgspec.Struct, frozen=True, tag=True):
    """The worker is running. Comes with a pidfd. `worker` is its process id; `uid` is None without one of its own."""

    worker: int
    uid: Union[int, None]


class Ended(msgspec.Struct, frozen=True, tag=True):
    """Nothing of the worker is left.

    `status` is as `os.waitpid` gives it (of its own end, if it ended before it was killed), `leftover` the number of
    other processes that were found and killed, `alive` whether some could not be killed, `overfull` whether it was
    killed for writing more into its scratch folder than it may.
    """

    worker: int
    status: int
    cpu_seconds: float
    leftover: int
    alive: bool = False
    overfull: bool = False


class Refused(msgspec.Struct, frozen=True, tag=True):
    """The fork server could not do what was asked of it."""

    reason: str


Command = Union[Spawn, End, Warm, Bye, Connect]
Answer = Union[Hello, Spawned, Ended, Refused]
encode = msgspec.msgpack.Encoder().encode
COMMANDS: msgspec.msgpack.Decoder[Command] = msgspec.msgpack.Decoder(Command)
ANSWERS: msgspec.msgpack.Decoder[Answer] = msgspec.msgpack.Decoder(Answer)
