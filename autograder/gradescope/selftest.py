"""The last step of the build: the reference is handed in and must get full marks, or the build fails.

It goes the way of every submission, harness, sandbox and all, on the very image that will grade. Run by `setup.sh`:
`python -m autograder.gradescope.selftest SOURCE`.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from autograder.assignment.assignment import Assignment, load_assignment
from autograder.errors import SoftmarkError
from autograder.gradescope.harness import run
from autograder.gradescope.layout import Layout
from autograder.report.gradescope_schema import Results

_SECONDS = 1800.0


def main(source: Path) -> int:
    """0 where the reference gets full marks here; else 1, and what is wrong stands on the screen."""
    try:
        assignment = load_assignment(Layout(source=source).assignment(Layout(source=source).settings()))
        with tempfile.TemporaryDirectory(prefix="softmark-") as top:
            layout = Layout(Path(top), source)
            hand_in_reference(assignment, layout.submission)
            results = run(layout, _SECONDS)
    except (SoftmarkError, OSError) as error:
        print(f"The self-test could not be run: {error}")
        return 1
    faults = shortfalls(results, assignment.maximum)
    print(f"Self-test: the reference of {assignment.name} gets {results.score:g} of {assignment.maximum:g} points.")
    for line in faults:
        print(f"  {line}")
    return 1 if faults else 0


def hand_in_reference(assignment: Assignment, folder: Path) -> None:
    """Write the reference solutions, and the data beside them that is handed in, as a submission."""
    folder.mkdir(parents=True)
    for part in assignment.parts:
        (folder / part.file).write_bytes(assignment.reference(part).read_bytes())
    for pattern in ("*.safetensors", *assignment.hand_in, *assignment.accept):
        for path in sorted(assignment.solutions.glob(pattern)):
            (folder / path.name).write_bytes(path.read_bytes())


def shortfalls(results: Results, maximum: float) -> list[str]:
    """Why a package with these results of the reference must not grade anybody; empty where it may."""
    lines = [f"{line}" for line in _said(results)] if results.extra_data.get("status") != "graded" else []
    lines += [
        f"check {test.number} failed ({test.score:g} of {test.max_score:g}): {test.name}\n    "
        + test.output.replace("\n", "\n    ")
        for test in results.tests
        if test.status != "passed"
    ]
    if not lines and results.score < maximum - 1e-6:  # extra credit may be on top
        lines.append(f"every check passed, and yet the score is {results.score:g}")
    return lines


def _said(results: Results) -> Sequence[str]:
    said = results.extra_data.get("staff") or results.extra_data.get("reason") or results.output
    return cast("list[str]", said) if isinstance(said, list) else [str(said)]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
