"""What `softmark starter` does: write the starter code, or say that it is stale. How it is made stands in `starter`."""

from __future__ import annotations

from pathlib import Path

from autograder.assignment.assignment import load_assignment
from autograder.authoring.starter_code import HANDOUT, stale, tasks_are_stale, write_starter, write_tasks


def starter_command(folder: Path, check_only: bool) -> int:
    """Write `starter_code/<name>/` and the handout's table of tasks, and name what changed.

    With `check_only` nothing is written, and 1 is returned where something is stale.
    """
    assignment = load_assignment(folder)
    handout = tasks_are_stale(assignment) if check_only else write_tasks(assignment)
    names = stale(assignment) if check_only else write_starter(assignment)
    changed = [assignment.folder / HANDOUT] if handout else []
    changed += [assignment.starter / name for name in names]
    for path in changed:
        print(f"{path} {'is stale' if check_only else 'written'}")
    if check_only and changed:
        print(f"Make it anew with: softmark starter {folder}")
        return 1
    if not changed:
        print(f"{assignment.starter} is up to date")
    return 0
