"""`softmark submit`: the hand-in as a zip, what would go wrong with it, the visible checks on it, and a receipt."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from autograder.commands.check import Wish, check_home
from autograder.errors import SoftmarkError
from autograder.grading.record import write_atomically
from autograder.intake.beforehand import chosen, warnings, warnings_on_code
from autograder.intake.submission import Submission, read_submission
from autograder.run.home import Home, home_of
from autograder.text import one_line
from autograder.zip_file import zipped


def submit_command(folder: Path, out: Path) -> int:
    """Write the zip, and print warnings, what the visible checks say of it, and the receipt.

    Raises:
        SoftmarkError: there is nothing to hand in, or nobody could read it.
    """
    home = home_of(folder)
    files = chosen(home.folder, home.assignment)
    if not files:
        names = ", ".join(part.file for part in home.assignment.parts)
        raise SoftmarkError(f"{home.folder} has none of {names}: run this where your files are.", exit_code=1)
    data = zipped(files)
    out = out if out.is_absolute() else Path.cwd() / out
    write_atomically(out, data)
    tree = read_submission(Submission(name=out.stem, path=out), home.assignment)
    said = [*warnings(home.folder, files, home.assignment), *tree.notes, *warnings_on_code(tree.files, home.assignment)]
    for warning in dict.fromkeys(said):
        print(f"warning: {one_line(warning, 500)}", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="softmark-") as top:
        unpacked = Path(top) / home.assignment.name
        tree.write(unpacked)
        Path(top).chmod(0o755)
        standing = check_home(replace(home, folder=unpacked), Wish()).standing
    _print_receipt(home, files, data, out)
    print(f"  points   {standing}")
    print(f"\nHand in {out.name}, and keep this receipt.")
    return 0


def _print_receipt(home: Home, files: dict[str, bytes], data: bytes, out: Path) -> None:
    now = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
    left_out = sorted(
        path.name
        for path in home.folder.iterdir()
        if path.is_file() and path.suffix in (".py", ".ipynb") and path.name not in {*files, "set_up.py"}
    )
    print(f"\n{out} written: {len(data) / 1e3:,.1f} kB")
    print(f"  files    {', '.join(files)}")
    if left_out:
        print(f"  left out {', '.join(left_out)} (defines nothing that is asked for)")
    print(f"  sha256   {hashlib.sha256(data).hexdigest()}")
    print(f"  time     {now}")
