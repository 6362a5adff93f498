"""What `softmark starter` does: write the starter code, or say that it is stale. How it is made stands in `starter`."""

from __future__ import annotations

from pathlib import Path

from autograder.assignment import load_assignment
from autograder.release.starter import stale, write_starter


def starter_command(folder: Path, check_only: bool) -> int:
    """Write `starter_code/<name>/` and name what changed; with `check_only` only name it, and return 1 where it is
    stale.
    """
    assignment = load_assignment(folder)
    names = stale(assignment) if check_only else write_starter(assignment)
    for name in names:
        print(f"{assignment.starter / name} {'is stale' if check_only else 'written'}")
    if check_only and names:
        print(f"Make it anew with: softmark starter {folder}")
        return 1
    if not names:
        print(f"{assignment.starter} is up to date")
    return 0
