"""A tiny assignment made in a folder of a test's own: one part, one function, and whatever checks a test brings."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from autograder.assignment.assignment import Assignment, load_assignment

REFERENCE = '''
"""Numbers, doubled."""

import torch


def double(x: torch.Tensor) -> torch.Tensor:
    """Twice x, of the same shape and dtype."""
    # BEGIN SOLUTION
    return 2 * x
    # END SOLUTION


class Counter:
    """Counts up from a start."""

    def __init__(self, start):
        self.value = start

    def step(self, by=1):
        # BEGIN SOLUTION
        self.value += by
        return self.value
        # END SOLUTION
'''

HEADER = """
import pytest
import torch
from gradescope_utils.autograder_utils.decorators import (
    hide_errors, leaderboard, number, partial_credit, tags, visibility, weight,
)
from autograder.testing.mismatch import Mismatch
"""

ONE_CHECK = """
@number("1.1")
@weight(2)
def test_doubles(student, reference, cases):
    \"\"\"Doubling gives twice the number\"\"\"
    x = cases.tensor(3)
    assert torch.equal(student.double(x), reference.double(x)), "not twice the number"
"""


def tiny_assignment(
    folder: Path,
    checks: str = ONE_CHECK,
    hidden: str = "",
    points: float = 2,
    reference: str = REFERENCE,
    limits: str = "",
) -> Assignment:
    """Write the assignment below `folder` and load it. `checks` and `hidden` follow a header with the usual imports."""
    home = folder / "assignments" / "tiny"
    (home / "checks" / "hidden").mkdir(parents=True)
    (home / "assignment.toml").write_text(
        f"""
        title = "Tiny"
        key = "tiny-visible"
        [limits]
        {limits}
        [[part]]
        name = "numbers_part"
        number = 1
        title = "Numbers"
        points = {points}
        functions = ["double", "Counter"]
        """
    )
    (home / "handout.md").write_text("# Tiny\n\n`double` and `Counter`.\n")
    (home / "checks" / "test_numbers_part.py").write_text(HEADER + dedent(checks))
    (home / "checks" / "hidden" / "key").write_text("tiny-hidden")
    if hidden:
        (home / "checks" / "hidden" / "test_numbers_part.py").write_text(HEADER + dedent(hidden))
    solutions = folder / "solutions" / "tiny"
    solutions.mkdir(parents=True)
    (solutions / "numbers_part.py").write_text(reference)
    return load_assignment(home)
