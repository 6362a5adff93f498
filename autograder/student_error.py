"""What went wrong on the student's side, as an exception in the grader. It carries the reason and no score.

(`errors.GraderError` is for what is our fault.)
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence

import msgspec

from autograder.results import Outcome, Raised, Reason, outcome_of


class StudentError(Exception):
    """Student code raised, died, hung, is missing, or returned what cannot be read.

    What student code raised is an instance of the builtin exception type as well (`student_error`), so that
    `pytest.raises(ValueError)` works.
    """

    def __init__(self, reason: Reason) -> None:
        Exception.__init__(self, reason)
        self.reason = reason

    @property
    def outcome(self) -> Outcome:
        """What a check is that ends in this."""
        return outcome_of(self.reason)

    def __str__(self) -> str:
        """For check authors and tracebacks: "ValueError: no text", "timed out (of cpu, seconds 10.0)"."""
        if isinstance(self.reason, Raised):
            return self.reason.line
        facts = msgspec.to_builtins(self.reason)
        kind = facts.pop("kind").replace("_", " ")
        return f"{kind} ({', '.join(f'{name} {value}' for name, value in facts.items())})" if facts else kind


def builtin_kind(kinds: Sequence[str]) -> str:
    """The nearest builtin exception among `kinds`: the name of another class is the student's choice."""
    found = (kind for kind in kinds if isinstance(getattr(builtins, kind, None), type) and kind != "object")
    return next(found, "an exception")


_types: dict[str, type[StudentError]] = {}
_ENDS_OF_A_LOOP = ("StopIteration", "StopAsyncIteration")
"""Out of a `map` over student code they would end the loop of a check, before anything in it was asserted."""


def student_error(reason: Raised) -> StudentError:
    """What student code raised, as an error that is also the nearest builtin exception among its kinds."""
    for kind in reason.kinds:
        builtin = getattr(builtins, kind, None)
        if not (isinstance(builtin, type) and issubclass(builtin, BaseException)) or "Group" in kind:
            continue  # a group cannot be made of a reason
        if not issubclass(builtin, Exception) or builtin is Exception or kind in _ENDS_OF_A_LOOP:
            break
        if kind not in _types:
            _types[kind] = type(f"Student{kind}", (StudentError, builtin), {"__module__": __name__})
        return _types[kind](reason)
    return StudentError(reason)
