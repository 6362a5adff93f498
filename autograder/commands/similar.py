"""`softmark similar`: pairs of submissions that share what others do not have, on a page to look at."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from autograder.assignment.assignment import Assignment, load_assignment
from autograder.errors import SoftmarkError, Unreadable
from autograder.grading.record import write_atomically
from autograder.intake.finding import find
from autograder.intake.submission import read_submission
from autograder.progress import Progress
from autograder.report.similarity import every_hash, fingerprints, similar_pairs
from autograder.report.similarity_page import similarity_page
from autograder.run.written import RUN, latest_run
from autograder.text import one_line

_SHOWN = 10
_FENCED = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def similar_command(out: Path, older: Sequence[Path]) -> int:
    """Write OUT/similar.html and print the first pairs.

    Raises:
        SoftmarkError: `out` names no hand-ins, or they have gone from there.
    """
    run = latest_run(out)
    if run is None or not run.folder:
        raise SoftmarkError(f"{out / RUN} names no run over a folder of hand-ins: grade a folder with -o {out} first.")
    assignment = load_assignment(Path(run.folder))
    texts = _texts(Path(run.hand_ins), assignment)
    now = set(texts)
    for path in older:
        earlier = latest_run(path)
        hand_ins = Path(earlier.hand_ins) if earlier is not None and earlier.hand_ins else path
        texts |= {f"{path.name}/{name}": files for name, files in _texts(hand_ins, assignment).items()}
    prints = {name: fingerprints(files) for name, files in texts.items()}
    pairs = similar_pairs(prints, _given(assignment), texts.keys() - now)
    target = out / "similar.html"
    write_atomically(target, similarity_page(assignment.name, pairs, texts).encode())
    for pair in pairs[:_SHOWN]:
        print(f"{pair.similarity:4.0%}  {one_line(pair.left, 60)}  {one_line(pair.right, 60)}")
    print(f"{target}: {len(pairs)} pairs to look at, of {len(texts)} submissions. It is no verdict.")
    return 0


def _texts(hand_ins: Path, assignment: Assignment) -> dict[str, dict[str, str]]:
    """The files of the parts of each submission; one that cannot be read is told and left out."""
    found: dict[str, dict[str, str]] = {}
    submissions = find(hand_ins, assignment).submissions
    with Progress(len(submissions), "read") as progress:
        for submission in submissions:
            progress.step()
            try:
                files = read_submission(submission, assignment).files
            except Unreadable as fault:
                progress.end()
                print(f"softmark: {submission.name} is left out: {fault}", file=sys.stderr)
                continue
            parts = [part.file for part in assignment.parts if part.file in files]
            found[submission.name] = {name: files[name].decode("utf-8", "replace") for name in parts}
    return found


def _given(assignment: Assignment) -> set[int]:
    """Hashes of the starter code and of the code in the handout."""
    starter = assignment.folder.parents[1] / "starter_code" / assignment.name
    given = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(starter.glob("*.py"))]
    handout = assignment.folder / "handout.md"
    if handout.is_file():
        given += _FENCED.findall(handout.read_text(encoding="utf-8", errors="replace"))
    return {each for text in given for each in every_hash(text)}
