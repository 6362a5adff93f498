"""Each layer proved by trying, in throw-away workers that do what it must refuse.

Nothing is believed from a version number. A layer is tried with those off that could hide that it does not hold. It
decides nothing (`layers` does), and what it tries harms nothing when it works.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.errors import GraderError
from autograder.sandbox.account import Account
from autograder.sandbox.connection import Connection, Limits, wait_ready
from autograder.sandbox.control_groups import ControlGroup
from autograder.sandbox.deaths import WorkerDied, WorkerFailure
from autograder.sandbox.launch import ForkServer
from autograder.sandbox.required import Finding, Profile
from autograder.sandbox.temporary import TemporaryFolder
from autograder.sandbox.worker import RemoteWorker
from autograder.worker.protocol.messages import Call, Raised, Returned, Target

_LIMITS = Limits(memory_bytes=64 << 20, cpu_seconds=30, scratch_bytes=1 << 20)
_CPU_SECONDS, _WALL_SECONDS = 5.0, 60.0
_HELD = 16 << 20
_MOST_OPEN = 300  # more than a worker may have


class Probe:
    """A worker on `probe.py`: what the functions of that module return."""

    def __init__(self, worker: RemoteWorker) -> None:
        self._worker = worker
        self.pid = worker.pid

    def tries(self, function: str, *args: object) -> Any:
        """The value of a function of `probe.py`. Raises `WorkerFailure`, `GraderError`."""
        request = Call(Target(function, "probe"), args)
        reply = self._worker.request(request, cpu_seconds=_CPU_SECONDS, wall_seconds=_WALL_SECONDS)
        if isinstance(reply, Returned):
            return reply.value
        said = f"{reply.kinds[0]}: {reply.message}" if isinstance(reply, Raised) and reply.kinds else str(reply)
        raise GraderError(f"a probe worker could not carry out {function}: {said[:300]}")

    def account(self, function: str, *args: object) -> Account | None:
        """The kernel's account of the call; None where there is none. Raises `WorkerFailure`, `GraderError`."""
        request = Call(Target(function, "probe"), args)
        return self._worker.weigh(request, cpu_seconds=_CPU_SECONDS, wall_seconds=_WALL_SECONDS)[1]

    def refusal(self, function: str, *args: object) -> str:
        """What refused that which `function` tries; "" where nothing did, or where the worker is gone of it."""
        try:
            return str(self.tries(function, *args))
        except WorkerFailure:
            return ""


@contextlib.contextmanager
def cage() -> Generator[Path]:
    """A folder that every user can read, with the probe in it."""
    with TemporaryFolder() as top:
        top.chmod(0o711)
        folder = top / "submission"
        folder.mkdir()
        folder.chmod(0o755)
        source = folder / "probe.py"
        source.write_bytes((Path(__file__).parent / "probe.py").read_bytes())
        source.chmod(0o644)
        yield folder


@contextlib.contextmanager
def probe(connection: Connection, folder: Path, limits: Limits = _LIMITS) -> Generator[Probe]:
    """A worker in the cage `folder`."""
    worker = connection.spawn(folder, ["probe"], limits)
    try:
        yield Probe(worker)
    finally:
        worker.close()
        connection.settle()


def prove(server: ForkServer, here: Profile, hidden: Sequence[Path] = ()) -> list[Finding]:
    """What holds of each layer. `hidden` are folders that nobody but the grader may read, nor anything in them.

    Raises `GraderError` where no worker starts.
    """
    missing = wait_ready(server).missing
    with Connection(server) as connection, cage() as folder:
        without = tuple({"seccomp", "landlock"} - set(missing))
        with probe(connection, folder, replace(_LIMITS, without=without)) as bare:
            findings = [_user_id(bare, here), _no_new_privileges(bare), _limits(bare), _environment(bare)]
            around = _namespaces(bare, server.without_namespaces, folder.parent)
            group = _control_group(bare, server.group)
        with probe(connection, folder, replace(_LIMITS, without=("landlock",))) as worker:
            findings.append(_off("seccomp", missing["seccomp"]) if "seccomp" in missing else _seccomp(worker))
        with probe(connection, folder, replace(_LIMITS, without=("seccomp",))) as worker:
            findings.append(
                _off("landlock", missing["landlock"]) if "landlock" in missing else _landlock(worker, folder.parent)
            )
        findings += [around, group]
        findings.append(_hidden(connection, folder, without, hidden, around))
        findings.append(_quota(connection, folder))
        findings.append(_kill(connection, folder))
        with probe(connection, folder) as worker:
            findings.append(_memory_account(worker))
    return findings


def _off(layer: str, reason: str) -> Finding:
    return Finding(layer, False, missing=reason)


def _refused(layer: str, attempts: dict[str, str], proof: str) -> Finding:
    """On where every attempt was refused."""
    done = [what for what, refusal in attempts.items() if refusal == ""]
    return _off(layer, f"a worker could {' and '.join(done)}") if done else Finding(layer, True, proof)


def _user_id(worker: Probe, here: Profile) -> Finding:
    if here != "root":
        return _off("user-id", "it takes root; workers have the user id of the grader")
    uid, gid, groups = worker.tries("user")
    if uid in (0, os.geteuid()) or gid in (0, os.getegid()) or groups:
        return _off("user-id", f"a worker runs as user {uid}, group {gid}, other groups {groups}")
    with TemporaryFolder() as closed:  # mode 0700, of the grader
        attempts = {
            "read a closed folder": worker.refusal("reads", str(closed)),
            "signal the grader": worker.refusal("signals", os.getpid()),
            "look at the grader's limits": worker.refusal("limits", os.getpid()),
        }
    return _refused("user-id", attempts, "a worker could not read a closed folder nor signal the grader")


def _no_new_privileges(worker: Probe) -> Finding:
    if worker.tries("may_gain_privileges"):
        return _off("no-new-privileges", "the kernel says that a worker may gain privileges")
    return Finding("no-new-privileges", True, "the kernel says so of a worker")


def _limits(worker: Probe) -> Finding:
    attempts = {
        "map twice its memory": worker.refusal("takes_memory", 2 * _LIMITS.memory_bytes),
        "write a file of twice its size": worker.refusal("writes_one_file", 2 * _LIMITS.scratch_bytes),
        f"open {_MOST_OPEN} files": worker.refusal("opens_many", _MOST_OPEN),
    }
    return _refused("limits", attempts, "memory, a file and descriptors beyond the limits were refused")


def _environment(worker: Probe) -> Finding:
    known = {"HOME", "TMPDIR", "PATH", "LANG", "OMP_NUM_THREADS", "USER", "CUDA_VISIBLE_DEVICES"}
    others = sorted(set(worker.tries("environment")) - known)
    opened = worker.tries("open_files")
    if others or opened > 6:  # input, output twice, two lines, its memory account
        return _off("environment", f"a worker has {opened} descriptors and the variables {others}")
    return Finding("environment", True, f"a worker has {opened} descriptors and no variable of the grader's")


def _seccomp(worker: Probe) -> Finding:
    attempts = {
        "open a socket": worker.refusal("opens_socket"),
        "make a process": worker.refusal("makes_process"),
        "make memory without a file": worker.refusal("shares_memory"),
        "look at the grader's limits": worker.refusal("limits", os.getpid()),
        "signal the grader": worker.refusal("signals", os.getpid()),
        "make itself dumpable": worker.refusal("becomes_dumpable"),
        "start a program": worker.refusal("executes"),
    }
    return _refused("seccomp", attempts, "sockets, processes, programs and signals were refused")


def _landlock(worker: Probe, top: Path) -> Finding:
    """Outside its folders a worker finds a file and a folder that are open to everybody."""
    open_file, open_folder = top / "open", top / "open-folder"
    open_file.touch(mode=0o644)
    open_folder.mkdir()
    open_folder.chmod(0o777)
    attempts = {
        "read a file that is open to all": worker.refusal("reads", str(open_file)),
        "write into a folder that is open to all": worker.refusal("writes", str(open_folder)),
    }
    inside = {"its own folder": worker.refusal("reads", str(top / "submission"))}
    if any(inside.values()):
        return _off("landlock", f"a worker cannot read {inside}")
    return _refused("landlock", attempts, "files that are open to everybody were refused")


def _namespaces(worker: Probe, missing: str, top: Path) -> Finding:
    """Without the layers that it would put on itself, a worker finds no network, and nothing to write into."""
    if missing:
        return _off("namespaces", missing)
    open_folder = top / "open-to-all"
    open_folder.mkdir()
    open_folder.chmod(0o777)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        attempts = {
            "connect to this machine": worker.refusal("connects", listening.getsockname()[1]),
            "read a file of this machine": worker.refusal("reads", "/etc/passwd"),
            "write into a folder that is open to all": worker.refusal("writes", str(open_folder)),
        }
    return _refused(
        "namespaces", attempts, "there was no network, no /etc, and nowhere to write, with other layers off"
    )


def _control_group(worker: Probe, group: ControlGroup) -> Finding:
    if group.missing:
        return _off("control-group", group.missing)
    if not group.holds(worker.pid):
        return _off("control-group", f"a worker was not in {group.folders[0]}")
    return Finding(
        "control-group",
        True,
        f"workers are in a group that may use {group.memory_bytes / 2**30:.1f} GiB and {group.processes:,} processes",
    )


def inside(folder: Path) -> list[str]:
    """A folder and the files in it: a closed folder may hold what can be opened by name."""
    return [str(folder), *(str(path) for path in sorted(folder.rglob("*")) if path.is_file())]


def _hidden(
    connection: Connection, folder: Path, without: tuple[str, ...], hidden: Sequence[Path], around: Finding
) -> Finding:
    with contextlib.ExitStack() as stack:
        places = list(hidden) or [stack.enter_context(TemporaryFolder())]
        with probe(connection, folder) as worker:
            attempts = {f"read what is in {place}": worker.refusal("reads", *inside(place)) for place in places}
        with probe(connection, folder, replace(_LIMITS, without=without)) as bare:
            by_mode = all(bare.refusal("reads", *inside(place)) for place in places)
    how = "closed to other users (0700)" if by_mode else "kept closed by Landlock alone"
    how = "closed (0700), or out of sight in the namespaces" if by_mode and around.on else how
    finding = _refused("hidden-material", attempts, f"{how}: a worker could not read it")
    if finding.on:
        return finding
    closing = " ".join(str(place) for place in places)
    return replace(finding, missing=f"{finding.missing} (close it: chmod -R go-rwx {closing})")


def _quota(connection: Connection, folder: Path) -> Finding:
    """A worker that writes files without end is stopped."""
    with probe(connection, folder) as worker:
        try:
            worker.tries("fills", _LIMITS.scratch_bytes // 4)
        except WorkerDied as death:
            return Finding("quota", True, f"a worker that never stopped writing {death.description}")
        except WorkerFailure as failure:
            return _off("quota", f"a worker wrote files until {failure}")
    return _off("quota", "a worker wrote files without end")


def _kill(connection: Connection, folder: Path) -> Finding:
    """What a worker leaves behind is dead when the worker has been ended: tried without the layer that forbids it."""
    with probe(connection, folder, replace(_LIMITS, without=("seccomp",))) as worker:
        daemon = worker.tries("leaves_daemon")
    try:
        os.kill(daemon, 0)
    except ProcessLookupError:
        return Finding("kill", True, "a daemon of a worker was dead when the worker had been ended")
    return _off("kill", f"process {daemon} of a worker outlived it")


def _memory_account(worker: Probe) -> Finding:
    """Memory of one call is read from the kernel, and nothing that student code does changes what is read."""
    account = worker.account("holds_memory", _HELD)
    if account is None:
        return _off(
            "memory-account", "the kernel does not tell how far a worker grew; the allocation model stands alone"
        )
    if not account.guarded:
        return _off("memory-account", "it takes seccomp, or a worker could reset its own peak")
    if account.growth < _HELD:
        return _off("memory-account", f"of {_HELD:,} bytes the kernel told {account.growth:,}")
    return Finding("memory-account", True, f"of {_HELD >> 20} MiB held in a call the kernel told")
