"""What can go wrong on the student's side, as exceptions in the grader, and the sentences that say so.

Each is the student's fault (`errors.GraderError` is ours). They carry no score: `verdict` decides.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from autograder.worker.protocol.messages import Unreadable


class StudentError(Exception):
    """Student code raised, died, hung, is missing, or returned what cannot be read.

    What student code raised is an instance of the builtin exception type as well, so that `pytest.raises(ValueError)`
    works.

    Attributes:
        outcome: "failed", "crashed", "timed_out", "missing" or "not_run", as in `autograder.results`.
        kinds: names in the MRO of what was raised, most special first; empty where nothing was raised.
        frames: the student's own part of the traceback.
        function: the name that was called, or "".
        plain: what may be said of it in a hidden check: nothing that student code chose, which had seen the case.
    """

    outcome = "failed"

    def __init__(
        self, sentence: str, *, kinds: Sequence[str] = (), frames: str = "", function: str = "", plain: str = ""
    ) -> None:
        Exception.__init__(self, sentence)
        self.sentence = sentence
        self.plain = plain or sentence
        self.kinds = tuple(kinds)
        self.frames = frames
        self.function = function

    def __str__(self) -> str:
        return self.sentence


class StudentMissing(StudentError):
    """The function is not there, or is not implemented."""

    outcome = "missing"


class StudentUnreadable(StudentError):
    """The function returned what is no data."""


class StudentCrashed(StudentError):
    """The worker died, or spoke nonsense."""

    outcome = "crashed"


class StudentTimedOut(StudentError):
    """The call took longer than the check allows."""

    outcome = "timed_out"


class StudentNotRun(StudentError):
    """The call was not tried: its part does not import, or the time is up."""

    outcome = "not_run"


def builtin_kind(kinds: Sequence[str]) -> str:
    """The nearest builtin exception among `kinds`: the name of another class is the student's choice."""
    found = (kind for kind in kinds if isinstance(getattr(builtins, kind, None), type) and kind != "object")
    return next(found, "an exception")


def missing(name: str, module: str, near: Sequence[str]) -> StudentMissing:
    plain = f"{name} is not defined in {module}.py."
    hint = f" Did you mean {near[0]}, which is there?" if near else ""
    return StudentMissing(f"{plain}{hint}", function=name, plain=plain)


def unreadable_sentence(name: str, reply: Unreadable) -> str:
    where = f" at result{reply.where}" if reply.where else ""
    why = f" ({reply.reason})" if reply.reason else ""
    return (
        f"{name} returned a {reply.type_name}{where}{why}; a check can read tensors, numbers, strings, bytes, None, "
        "and lists, tuples and dicts of them."
    )


_types: dict[str, type[StudentError]] = {}
_ENDS_OF_A_LOOP = ("StopIteration", "StopAsyncIteration")
"""Out of a `map` over student code they would end the loop of a check, before anything in it was asserted."""


def error_type(kinds: Sequence[str]) -> type[StudentError]:
    """The class that is both `StudentError` and the nearest builtin exception among `kinds`."""
    for kind in kinds:
        builtin = getattr(builtins, kind, None)
        if not (isinstance(builtin, type) and issubclass(builtin, BaseException)) or "Group" in kind:
            continue  # a group cannot be made of a sentence
        if not issubclass(builtin, Exception) or builtin is Exception or kind in _ENDS_OF_A_LOOP:
            break
        if kind not in _types:
            _types[kind] = type(f"Student{kind}", (StudentError, builtin), {"__module__": __name__})
        return _types[kind]
    return StudentError
