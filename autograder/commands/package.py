"""`softmark package`: writes the zip that Gradescope builds its autograder from, and says what to do with it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import autograder
from autograder.assignment.assignment import Assignment, load_assignment
from autograder.authoring.portability import not_there
from autograder.errors import SoftmarkError
from autograder.gradescope.deadline import LONGEST, SHORTEST
from autograder.gradescope.upload import contents_of
from autograder.grading.record import write_atomically
from autograder.sandbox.required import refuse_unknown
from autograder.zip_file import zipped

_LARGEST = 100 << 20


def package_command(
    folder: Path, out: Path, seconds: float, allow_missing: list[str], wheels: Sequence[Path] = ()
) -> int:
    """Write the zip to `out`. `seconds` is what the platform allows for one run; `wheels` are taken along."""
    refuse_unknown(allow_missing)
    if not SHORTEST <= seconds <= LONGEST:
        raise SoftmarkError(f"--time-limit is {seconds:g} s; write what Gradescope allows, {SHORTEST:g} s or more.")
    assignment = load_assignment(folder)
    refuse_place(out, assignment)
    contents = contents_of(assignment, seconds, allow_missing)
    for path, sentence in not_there(assignment):
        raise SoftmarkError(f"{path}: {sentence}.", exit_code=1)
    contents.files.update({f"wheels/{path.name}": _wheel(path) for path in wheels})
    data = zipped(contents.files)
    if len(data) > _LARGEST and wheels:
        print(f"The package has {len(data) >> 20} MB. If Gradescope refuses it, leave --wheel out.")
    elif len(data) > _LARGEST:
        largest = max(contents.files, key=lambda name: len(contents.files[name]))
        raise SoftmarkError(
            f"The package would have {len(data) >> 20} MB, more than Gradescope takes for certain: is {largest} needed?"
        )
    try:
        write_atomically(out, data)
    except OSError as error:
        raise SoftmarkError(f"{out} could not be written ({error.strerror}): give another -o.") from None
    for note in contents.notes:
        print(note)
    print(
        f"{out} written: {len(data) / 1e6:.2f} MB, {len(contents.files)} files. It holds the solutions: keep it closed."
    )
    print("Upload it in Configure Autograder (base image Ubuntu 22.04), then test it with the reference solution.")
    return 0


def _wheel(path: Path) -> bytes:
    if path.suffix != ".whl":
        raise SoftmarkError(f"{path} is no wheel: --wheel takes a .whl, as pip download makes it for the Python there.")
    try:
        return path.read_bytes()
    except OSError as error:
        raise SoftmarkError(f"{path} could not be read ({error.strerror}).") from None


def refuse_place(out: Path, assignment: Assignment) -> None:
    """Raises `SoftmarkError` where `out` cannot be the name of a zip to be written."""
    if out.suffix.lower() != ".zip":
        raise SoftmarkError(f"{out} does not end in .zip: give a name that does.")
    if out.is_dir():
        raise SoftmarkError(f"{out} is a folder, where a file is to be: give another -o.")
    if not out.parent.is_dir():
        raise SoftmarkError(f"There is no folder {out.parent}: make it, or give another -o.")
    for folder in (assignment.folder, assignment.solutions, Path(autograder.__file__).parent):
        if out.resolve().is_relative_to(folder):
            raise SoftmarkError(f"{out} lies in {folder}, and would be packed the next time: give another -o.")
    if not os.access(out.parent, os.W_OK):
        raise SoftmarkError(f"{out.parent} cannot be written to: give another -o.")
