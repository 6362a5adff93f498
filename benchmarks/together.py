"""Memory of all that grades, together, while part 5's heaviest checks run: grader, fork server and worker.

Of the reference, and of forms that take all that a worker may have: a platform may give 768 MB. (`whole` looks at a
perfect submission in all checks.) Looked at from outside; needs root, since workers let nobody else look into them.
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
from benchmarks.whole import memory_kib

ROOT = Path(__file__).resolve().parents[1]
ASSIGNMENT = ROOT / "assignments" / "08_transformers"
SOLUTIONS = ROOT / "solutions" / "08_transformers"
HEAVIEST = ("5.1f", "5.2f")
FORMS = {
    "reference": ("the reference", 700),
    "whole_scores": ("all scores at once", 768),
    "flash_saves_the_weights": ("all weights kept", 768),
}
BETWEEN_LOOKS = 0.01


def rows() -> list[Row]:
    """One for each form: MB at the peak."""
    if os.geteuid() != 0:
        return []
    found: list[Row] = []
    for form, (what, most) in FORMS.items():
        peak = peak_mb([sys.executable, "-m", "benchmarks.together", form])
        found.append(Row(f"{what}, checks {', '.join(HEAVIEST)}", f"{peak:.0f} MB", f"at most {most} MB", peak <= most))
    return found


def peak_mb(command: Sequence[str]) -> float:
    """The largest memory of a command and all that it starts, in MB."""
    most = 0
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as run:
        while run.poll() is None:
            most = max(most, memory_kib(run.pid))
            time.sleep(BETWEEN_LOOKS)
    if run.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {run.returncode}")
    return most * 1024 / 1e6


def main(form: str) -> None:
    """Grade part 5 of the reference, or a mistake laid over it, in the heaviest checks."""
    from autograder.assignment.assignment import load_assignment
    from autograder.assignment.bank import overlay
    from autograder.intake.submission import Submission
    from autograder.run.session import Session

    source = (SOLUTIONS / "efficient.py").read_text(encoding="utf-8")
    if form != "reference":
        source = overlay(source, (SOLUTIONS / "mistakes" / "efficient" / f"{form}.py").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(prefix="softmark-") as folder, Session() as session:
        Path(folder, "efficient.py").write_text(source, encoding="utf-8")
        session.wait_ready()
        submission = Submission(name="student_03", path=Path(folder))
        session.with_grader(
            load_assignment(ASSIGNMENT), lambda grader: print(grader.grade(submission, only=HEAVIEST)), digest=""
        )


if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"
    main(sys.argv[1])
