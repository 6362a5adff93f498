"""The one exception type of this package for what a person can act on.

It carries a sentence and an exit code. It does not cover failing checks (those are results) nor what student code
raises (`autograder.student_error`).
"""

from __future__ import annotations


class SoftmarkError(Exception):
    """One sentence: what happened, with the value, and what to do about it.

    Args:
        sentence: shown to the person as it stands.
        exit_code: 2 where the call was wrong, 1 where the thing asked about is not so.
    """

    def __init__(self, sentence: str, *, exit_code: int = 2) -> None:
        super().__init__(sentence.encode("utf-8", "replace").decode())  # a path may hold bytes that are no UTF-8
        self.exit_code = exit_code


class GraderError(SoftmarkError):
    """Something of ours failed (a worker that could not start, a broken fork server): never the student's fault."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, exit_code=1)


class Unreadable(SoftmarkError):
    """Nobody could read what was handed in: the grade is `ungraded`, and this sentence is its reason."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, exit_code=1)
