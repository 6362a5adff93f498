"""A replica of the platform: its layout in a fresh root, its limits, Docker's default profile, no network at run time.

The system's folders (`/usr`, `/etc`, ...) are this machine's, to be read only; everything else is new. The image is
built once (`Replica.build`), and each `run` finds it with a submission and metadata of its own, as on the platform.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from autograder.report.gradescope_schema import Results, read_results
from tests.gradescope.container import SYSTEM
from tests.gradescope.limits import Limits, Peak

PROJECT = Path(__file__).parents[2]
PROCESSORS, MEGABYTES, SECONDS = 0.5, 768, 600


@dataclass
class Run:
    """What one run left."""

    status: int
    output: str
    seconds: float
    cpu_seconds: float = 0.0
    data: bytes = b""
    peak: int = 0
    shares: dict[str, int] = field(default_factory=dict)
    ended_for_memory: int = 0
    limited: str = ""

    @property
    def results(self) -> Results:
        """results.json, strictly read."""
        return read_results(self.data)


def impossible() -> str:
    """Why there can be no replica here; "" where there can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "a replica takes root on Linux"
    for tool in ("unshare", "mount"):
        if shutil.which(tool) is None:
            return f"a replica takes the program {tool}"
    tried = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--net", "mount", "--make-rprivate", "/"],
        capture_output=True,
        text=True,
        check=False,
    )
    return f"no namespaces can be made here: {tried.stderr.strip()}" if tried.returncode else ""


class Replica:
    """One image. `folder` is where its root is laid out; what `build` and `run` leave is all below it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = folder / "root"
        self.autograder = self.root / "autograder"

    def build(self, package: Path, environment: dict[str, str] | None = None) -> Run:
        """What the platform does with an uploaded zip: unpack, copy `run_autograder`, run `setup.sh` as root."""
        self.unpack(package)
        pip, readable = pip_settings()
        command = ["bash", "/autograder/source/setup.sh"]
        return self._carry_out(command, {**pip, **(environment or {})}, readable, network=True, limited=False)

    def unpack(self, package: Path) -> None:
        """Another zip into the same image, as if it had been built with it: what is installed is the same."""
        source = self.autograder / "source"
        shutil.rmtree(source, ignore_errors=True)
        source.mkdir(parents=True)
        with zipfile.ZipFile(package) as archive:
            for entry in archive.infolist():
                path = Path(archive.extract(entry, source))
                path.chmod(entry.external_attr >> 16 & 0o777)
        shutil.copy(source / "run_autograder", self.autograder / "run_autograder")

    def run(
        self,
        submission: Path,
        metadata: dict[str, object] | None = None,
        *,
        environment: dict[str, str] | None = None,
        megabytes: int = MEGABYTES,
        seconds: float = SECONDS,
        network: bool = False,
    ) -> Run:
        """What the platform does with a submission: fresh folders, the metadata, `./run_autograder`."""
        for name in ("submission", "results"):
            shutil.rmtree(self.autograder / name, ignore_errors=True)
            (self.autograder / name).mkdir()
        for place in ("tmp", "var/tmp"):
            shutil.rmtree(self.root / place, ignore_errors=True)
        if submission.is_dir():
            shutil.copytree(submission, self.autograder / "submission", dirs_exist_ok=True, symlinks=True)
        else:
            shutil.copy(submission, self.autograder / "submission")
        path = self.autograder / "submission_metadata.json"
        path.unlink(missing_ok=True)
        if metadata is not None:
            path.write_text(json.dumps(metadata))
        run = self._carry_out(
            ["./run_autograder"],
            environment or {},
            [],
            network=network,
            limited=True,
            megabytes=megabytes,
            seconds=seconds,
            output="/autograder/results/stdout",
        )
        written = self.autograder / "results" / "results.json"
        run.data = written.read_bytes() if written.exists() else b""
        return run

    def _carry_out(
        self,
        command: list[str],
        environment: dict[str, str],
        readable: list[str],
        *,
        network: bool,
        limited: bool,
        megabytes: int = MEGABYTES,
        seconds: float = SECONDS,
        output: str = "/output",
    ) -> Run:
        self.root.mkdir(parents=True, exist_ok=True)
        self.root.chmod(0o755)
        with ExitStack() as stack:
            limits = Limits.make(f"softmark-{os.getpid()}", PROCESSORS, megabytes) if limited else None
            groups = {name: str(path) for name, path in limits.groups.items()} if limits is not None else {}
            if limits is not None:
                stack.callback(limits.remove)
            peak = stack.enter_context(Peak(limits)) if limits is not None else None
            order = self.folder / "order.json"
            order.write_text(
                json.dumps(
                    {
                        "root": str(self.root),
                        "command": command,
                        "environment": environment,
                        "readable": readable,
                        "groups": groups,
                        "seconds": seconds,
                        "output": output,
                    }
                )
            )
            begun = time.monotonic()
            spaces = ["--mount", "--pid", "--fork", "--kill-child", "--ipc", "--uts", *([] if network else ["--net"])]
            done = subprocess.run(
                ["unshare", *spaces, sys.executable, "-m", "tests.gradescope.container", str(order)],
                cwd=PROJECT,
                capture_output=True,
                text=True,
                check=False,
            )
            took = time.monotonic() - begun
            ended = limits.ended_for_memory() if limits is not None else 0
            used = limits.cpu_seconds() if limits is not None else 0.0
        printed = self.root / output.lstrip("/")
        said = printed.read_text(errors="replace") if printed.exists() else ""
        return Run(
            status=done.returncode,
            output=said + done.stderr,
            seconds=took,
            cpu_seconds=used,
            peak=peak.bytes if peak else 0,
            shares=peak.shares if peak else {},
            ended_for_memory=ended,
            limited=f"control groups, version {limits.version}" if limits else "not limited: no control group was made",
        )


def pip_settings() -> tuple[dict[str, str], list[str]]:
    """How pip is set up on this machine, as variables for a root that has none of its files, and what that names."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False
    ).stdout
    variables = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    for line in listed.splitlines():
        name, _, value = line.partition("=")
        key = name.rpartition(".")[2]
        if not name.startswith(":env:"):
            variables.setdefault(f"PIP_{key.upper().replace('-', '_')}", value.strip("'\""))
    words = [word for value in variables.values() for word in value.split()]
    paths = {word for word in words if word.startswith("/") and Path(word).exists()}
    paths |= {str(Path(word[7:]).parent) for word in words if word.startswith("file:///")}  # an index, and its files
    return variables, sorted(path for path in paths if path.split("/")[1] not in SYSTEM)


def torch_index() -> dict[str, str] | None:
    """Where `setup.sh` shall find torch, as variables for it: where pip looks by itself, if the CPU build lies there.

    None where packages cannot be had at all.
    """
    pinned = (PROJECT / "autograder/gradescope/runtime/torch.txt").read_text().split()[-1]
    if _to_be_had(f"{pinned}+cpu"):
        return {"SOFTMARK_TORCH_INDEX": ""}
    return {} if _to_be_had("gradescope-utils") else None


def _to_be_had(requirement: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        words = ["-m", "pip", "install", "--dry-run", "--no-deps", "--quiet", "--target", folder, requirement]
        return subprocess.run([sys.executable, *words], capture_output=True, check=False).returncode == 0


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for a replica, open to all: on a disk, since an environment with torch has most of a gigabyte."""
    folder = Path(tempfile.mkdtemp(prefix="softmark-replica-", dir="/var/tmp"))
    try:
        folder.chmod(0o755)
        yield folder
    finally:
        subprocess.run(["rm", "-rf", "--one-file-system", str(folder)], check=False)
