"""The inside of a replica: `python -m tests.gradescope.container ORDER`, in new namespaces of mounts and processes.

Mounts what a container of the platform sees, gives up what Docker takes away (`tests.hostile.confined`), and then does
what the platform's own harness does: runs one command, keeps what it prints, stops it when its time is up. ORDER is a
JSON file; the exit status is the command's.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.hostile.confined import into_a_container

SYSTEM = ("bin", "etc", "lib", "lib32", "lib64", "libx32", "sbin", "usr")
OWN = ("autograder", "dev", "home", "mnt", "opt", "proc", "root", "run", "sys", "tmp", "var", "var/tmp")
DEVICES = ("full", "null", "random", "urandom", "zero")
TIMED_OUT = {
    "score": 0,
    "output": "Your submission timed out. It took longer than the time limit to run.",
    "execution_time": 0,
}
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def mount(*words: object) -> None:
    subprocess.run(["mount", *map(str, words)], check=True)


def bind(source: Path, target: Path, *, writable: bool = False) -> None:
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    mount("--bind", source, target)
    if not writable:
        mount("-o", "remount,bind,ro", target)


def lay_out(root: Path, readable: list[str], groups: dict[str, str]) -> None:
    """Everything is new and writable in `root` but the system's own folders, which are this machine's, to be read."""
    mount("--make-rprivate", "/")
    for name in OWN:
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in ("tmp", "var/tmp"):
        (root / name).chmod(0o1777)
    for name in SYSTEM:
        here, there = Path("/") / name, root / name
        if here.is_symlink():
            if not there.is_symlink():
                there.symlink_to(os.readlink(here))
        elif here.is_dir():
            bind(here, there)
    for path in readable:
        bind(Path(path), root / path.lstrip("/"))
    mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", root / "dev")
    for name in DEVICES:
        bind(Path("/dev") / name, root / "dev" / name, writable=True)
    (root / "dev/shm").mkdir()
    mount("-t", "tmpfs", "-o", "size=64m", "tmpfs", root / "dev/shm")
    mount("-t", "proc", "proc", root / "proc")
    mount("-t", "sysfs", "-o", "ro", "sysfs", root / "sys")
    if groups:
        mount("-t", "tmpfs", "tmpfs", root / "sys/fs/cgroup")
        for controller, folder in groups.items():
            place = root / "sys/fs/cgroup" / controller
            place.mkdir(exist_ok=True)
            bind(Path(folder), place)


def main(order: Path) -> int:
    import pyseccomp  # noqa: F401  # before the root changes, for it is not in the new one

    asked = json.loads(order.read_text())
    root = Path(asked["root"])
    for folder in asked["groups"].values():
        (Path(folder) / "cgroup.procs").write_text("0")
    lay_out(root, asked["readable"], asked["groups"])
    os.chroot(root)
    os.chdir("/autograder")
    into_a_container()
    environment = {"PATH": PATH, "HOME": "/root", "HOSTNAME": "replica", **asked["environment"]}
    with open(asked["output"], "wb") as output:
        process = subprocess.Popen(asked["command"], env=environment, stdout=output, stderr=subprocess.STDOUT)
        try:
            return process.wait(asked["seconds"])
        except subprocess.TimeoutExpired:
            process.kill()  # and nothing that it started; the platform then overwrites what is there
            Path("/autograder/results/results.json").write_text(json.dumps(TIMED_OUT))
            return 124


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
