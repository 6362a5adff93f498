"""`softmark release`: writes the zip that students get, and says what to do with it."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

from autograder.assignment.assignment import load_assignment
from autograder.authoring.bundle.contents import bundled
from autograder.authoring.leaks import leaks
from autograder.commands.package import refuse_place
from autograder.errors import SoftmarkError
from autograder.grading.known_mistakes import bank_at_home
from autograder.grading.plugin import Checks
from autograder.grading.pytest_session import with_checks
from autograder.grading.record import write_atomically
from autograder.grading.recording import recorded
from autograder.zip_file import zipped


def release_command(folder: Path, out: Path) -> int:
    """Write the bundle to `out`."""
    assignment = load_assignment(folder)
    refuse_place(out, assignment)
    checks = Checks(assignment, None, visible_only=True)
    with_checks(checks, lambda: None)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        answers = recorded(assignment)  # the reference prints while it trains
    files = bundled(assignment, checks.checks, answers, bank_at_home(assignment))
    texts = {name.partition("/")[2]: data.decode("utf-8", "ignore") for name, data in files.items()}
    for name, sentence in leaks(assignment, texts):
        raise SoftmarkError(f"{name} of the zip must not be released: {sentence}.", exit_code=1)
    data = zipped(files)
    write_atomically(out, data)
    print(f"{out} written: {len(data) / 1e6:.2f} MB, {len(files)} files, {len(checks.checks)} visible checks.")
    print(f"Students unpack it, and README.md in {assignment.name}/ says how to begin.")
    return 0
