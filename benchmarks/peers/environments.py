"""A clean virtual environment for each grader: its own package from the index, and torch, which all of them share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "build" / "peers"
PACKAGES = {
    "pytest": ["pytest"],
    "gradescope-utils": ["gradescope-utils"],
    "otter": ["otter-grader", "ipykernel"],
    "nbgrader": ["nbgrader", "ipykernel"],
}


def environment(name: str) -> Path:
    """The folder of programs of one grader's environment, made where it is not there yet (about half a minute).

    Of Softmark's own, what its users install: without the tools of its developers.
    """
    torch = _made("torch", ["torch", "numpy"])
    packages = [str(ROOT)] if name == "softmark" else PACKAGES[name]
    return _made(name, packages, below=next(torch.parent.glob("lib/python3*/site-packages")))


def variables(programs: Path) -> dict[str, str]:
    """The variables of a process of that environment: its programs come first, and torch has one thread."""
    kept = {name: os.environ[name] for name in ("HOME", "LANG", "TMPDIR") if name in os.environ}
    return {**kept, "PATH": f"{programs}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}


def _made(name: str, packages: list[str], below: Path | None = None) -> Path:
    programs, ready = BUILT / name / "bin", BUILT / name / ".ready"
    if not ready.is_file():
        subprocess.run([sys.executable, "-m", "venv", str(BUILT / name)], check=True)
        if below is not None:
            own = next((BUILT / name).glob("lib/python3*/site-packages"))
            (own / "torch_of_all.pth").write_text(f"{below}\n")
        pip = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "-c", str(ROOT / "constraints.txt"), *packages], check=True)
        ready.touch()
    return programs
