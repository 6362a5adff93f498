"""What the harness and the grading process tell each other: an order, and files beside it in a folder of their own.

The harness never loads torch: its memory and its start are the platform's, and half a processor's. Hence this room.
"""

from __future__ import annotations

import msgspec

from autograder.results import Submitter

ORDER, PLAN, PROGRESS, GRADE, REFUSED, REPORT = "order", "plan", "progress", "grade", "refused", "report"
"""Names of the files: what to do, the grade in which no check has run, results as they come, the grade or why there is
none, and figures for staff.
"""

PROCESS = "autograder.gradescope.grade_one"
DONE, NO, AGAIN = 0, 1, 3
"""Exit statuses of the grading process: a grade is there; refused in a sentence; something of ours failed."""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What to grade: two folders. `until` is of the monotonic clock; times are as the platform wrote them."""

    assignment: str
    submission: str
    name: str
    digest: str
    until: float
    submitters: tuple[Submitter, ...] = ()
    created_at: str = ""
    due: str = ""
    allow_missing: tuple[str, ...] = ()
