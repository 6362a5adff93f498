"""Sets Softmark up for this assignment: `python3 set_up.py`, with Python 3.10 to 3.13.

In a virtual environment, in conda, or where torch is installed already, everything goes there and torch stays as it is.
Elsewhere a virtual environment is made in .venv, with torch's build for the CPU.
"""

import os
import subprocess
import sys
from importlib import util
from pathlib import Path

HERE = Path(__file__).resolve().parent
OLDEST, NEWEST = (3, 10), (3, 13)
CPU_BUILDS = "https://download.pytorch.org/whl/cpu"
WHEELS = sorted(HERE.glob("*/softmark-*.whl"))
EXTRAS, NEXT = "", "check"


def main():
    """Install what is missing, and say what to type next."""
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        have = ".".join(map(str, sys.version_info[:3]))
        sys.exit(f"This is Python {have}, and Softmark needs 3.10 to 3.13: start set_up.py with one of these.")
    if len(WHEELS) != 1:
        there = ", ".join(path.name for path in WHEELS) or "none"
        sys.exit(
            f"Beside set_up.py must be a folder with one wheel of Softmark, and there is {there}: keep the one meant."
        )
    has_own = sys.prefix != sys.base_prefix or "CONDA_PREFIX" in os.environ or util.find_spec("torch") is not None
    python = sys.executable if has_own else made_environment()
    if not succeeds(python, "-c", "import torch"):
        install_torch(python)
    packages = [f"{WHEELS[0]}{EXTRAS}", *libraries()]
    if not succeeds(python, "-m", "pip", "install", "--quiet", *kept_torch(python), *packages, shown=True):
        sys.exit(
            "The packages could not be installed: see the lines above. Is this computer connected to the internet?"
        )
    command = Path(python).parent / ("softmark.exe" if os.name == "nt" else "softmark")
    where = os.path.relpath(command, HERE) if command.is_relative_to(HERE) else "softmark"
    print(f"Ready. Now type, in {HERE}:\n\n    {where} {NEXT}\n")


def made_environment():
    """The Python of .venv, which is made where it is not there."""
    python = HERE / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        print("Making a virtual environment in .venv ...", flush=True)
        if not succeeds(sys.executable, "-m", "venv", str(HERE / ".venv"), shown=True):
            sys.exit("The virtual environment could not be made. On Debian and Ubuntu: sudo apt install python3-venv.")
    return str(python)


def install_torch(python):
    """torch for the CPU; on macOS and Windows that is what the package index has."""
    print("Installing torch (200 MB) ...", flush=True)
    pip = [python, "-m", "pip", "install", "--quiet", "-r", str(HERE / "constraints.txt")]
    if sys.platform == "linux" and succeeds(*pip, "--index-url", CPU_BUILDS):
        return
    if not succeeds(*pip, shown=True):
        sys.exit("torch could not be installed: see the lines above, and https://pytorch.org for this computer.")


def kept_torch(python):
    """What keeps pip from replacing the torch that is there."""
    kept = WHEELS[0].with_name("torch.txt")
    line = f"import torch, pathlib; pathlib.Path({str(kept)!r}).write_text('torch==' + torch.__version__)"
    return ["-c", str(kept)] if succeeds(python, "-c", line) else []


def libraries():
    """What else students may use, where the course says so."""
    listed = WHEELS[0].with_name("libraries.txt")
    return listed.read_text().split() if listed.is_file() else []


def succeeds(*command, shown=False):
    """Whether a command ends without a failure."""
    quiet = {} if shown else {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.run(command, cwd=HERE, **quiet).returncode == 0


if __name__ == "__main__":
    main()
