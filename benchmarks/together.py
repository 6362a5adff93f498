"""Memory of all that grades, together: grader, fork server and workers, of which a platform may give 768 MB.

The proportional set size (a page that several processes share counts in parts) of one grading run and everything it
starts, looked at from outside every few milliseconds. Needs root, since workers let nobody else look into them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import Row

ROOT = Path(__file__).resolve().parents[1]
ASSIGNMENT = ROOT / "assignments" / "08_transformers"
SOLUTIONS = ROOT / "solutions" / "08_transformers"
HEAVIEST = ("5.6", "5.12")
MOST_MIB, MOST_MIB_OF_THE_REFERENCE = 768, 700
BETWEEN_LOOKS = 0.01


def rows() -> list[Row]:
    """All checks on a perfect submission; part 5's heaviest on the reference and on forms that take what they get."""
    if os.geteuid() != 0:
        return []
    heaviest = f"checks {', '.join(HEAVIEST)}"
    found: list[Row] = []
    for form, what, most in (
        ("perfect", "a perfect submission, all checks", MOST_MIB_OF_THE_REFERENCE),
        ("reference", f"the reference, {heaviest}", MOST_MIB_OF_THE_REFERENCE),
        ("whole_scores", f"all scores at once, {heaviest}", MOST_MIB),
        ("flash_saves_the_weights", f"all weights kept, {heaviest}", MOST_MIB),
    ):
        peak = peak_mib([sys.executable, "-m", "benchmarks.together", form])
        found.append(Row(what, f"{peak:.0f} MiB", f"<= {most} MiB", peak <= most))
    return found


def peak_mib(command: Sequence[str]) -> float:
    """The largest memory of a command and all that it starts, in MiB."""
    most = 0
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as run:
        while run.poll() is None:
            most = max(most, sum(_bytes_of(pid) for pid in _with_descendants(run.pid)))
            time.sleep(BETWEEN_LOOKS)
    if run.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {run.returncode}")
    return most / 2**20


def _with_descendants(top: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                stat = Path("/proc", name, "stat").read_text(encoding="utf-8", errors="replace")
            except OSError:  # it has ended
                continue
            children.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(name))
    found = [top]
    for pid in found:
        found += children.get(pid, [])
    return found


def _bytes_of(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as rollup:
            return next((int(line.split()[1]) << 10 for line in rollup if line.startswith("Pss:")), 0)
    except OSError:
        return 0


def main(form: str) -> None:
    """Grade all of the solutions, or part 5 of them (with a mistake laid over it) in the heaviest checks."""
    from autograder.assignment import load_assignment
    from autograder.bank import overlay
    from autograder.session import Session
    from autograder.submission import Submission

    names = [path for path in SOLUTIONS.iterdir() if path.suffix in (".py", ".safetensors")]
    files = {path.name: path.read_bytes() for path in names if form == "perfect" or path.name == "efficient.py"}
    if form not in ("perfect", "reference"):
        mistake = (SOLUTIONS / "mistakes" / "efficient" / f"{form}.py").read_text(encoding="utf-8")
        files["efficient.py"] = overlay(files["efficient.py"].decode(), mistake).encode()
    with tempfile.TemporaryDirectory(prefix="softmark-") as folder, Session() as session:
        for name, data in files.items():
            Path(folder, name).write_bytes(data)
        session.wait_ready()
        submission = Submission(name="student_03", path=Path(folder))
        only = () if form == "perfect" else HEAVIEST
        session.with_grader(
            load_assignment(ASSIGNMENT), lambda grader: print(grader.grade(submission, only=only)), digest=""
        )


if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"
    main(sys.argv[1])
