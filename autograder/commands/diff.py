"""`softmark diff`: two runs compared, printed for people or for machines."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
from rich.console import Console

from autograder.report.comparison import compare
from autograder.report.differences import print_differences


def diff_command(old: Path, new: Path, as_json: bool) -> int:
    """Print the comparison; 1 where it cannot be told how some submission changes."""
    comparison = compare(old, new)
    if as_json:
        sys.stdout.write(msgspec.json.encode(comparison).decode() + "\n")
    else:
        print_differences(comparison, Console())
    return 1 if comparison.open else 0
