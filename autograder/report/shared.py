"""What several checks of one part have in common and is said once: a failed import, a function that is not there.

It reads the sentences of `outcomes`, `proxy` and `workers` as they stand in a result. It decides no outcome, and of a
hidden check it reads no more than `lines` shows a student.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.grading.sentences import import_failed
from autograder.report.lines import for_students, is_hidden
from autograder.results import CheckResult

_DEATHS = ("not_run", "crashed", "timed_out")
_UNWRITTEN = re.compile(r"(\S+) is not implemented yet\.")
_UNDEFINED = re.compile(r"(\S+) is not defined in (\S+\.py)\.(?: (.*))?")


@dataclass(frozen=True)
class Failure:
    """Why a part does not import: in one line, and the frames of the student's, if any."""

    why: str
    frames: str = ""


@dataclass(frozen=True)
class Shared:
    """One sentence and the checks that it is said of. `failure` is set where it is that the part does not import."""

    sentence: str
    checks: tuple[CheckResult, ...]
    hint: str = ""
    failure: Failure | None = None


def shared(checks: Sequence[CheckResult]) -> tuple[Shared, ...]:
    """What is said once of the checks of one part, as its student may see it, in the order in which it comes up."""
    if is_not_handed_in(checks):
        return (Shared("nothing was handed in", tuple(checks)),)
    groups: dict[str, list[CheckResult]] = {}
    hints: dict[str, str] = {}
    for check in checks:
        sentence, hint = _sentence(check)
        if sentence:
            groups.setdefault(sentence, []).append(check)
            hints[sentence] = hints.get(sentence) or hint
    return tuple(
        Shared(sentence, tuple(group), hints[sentence], _failure_for_students(group))
        for sentence, group in groups.items()
    )


def import_failure(check: CheckResult) -> Failure | None:
    """Why the part of a check does not import, where that is why the check did not run. Whole: for staff."""
    if check.outcome not in _DEATHS or check.explanation is None:
        return None
    before, after = import_failed(check.part, "\n").split("\n. ")
    text = check.explanation.got
    if not text.startswith(before):
        return None
    why, _, frames = text.removeprefix(before).partition(". " + after)
    return Failure(why.strip(), frames.strip("\n"))


def is_not_handed_in(checks: Sequence[CheckResult]) -> bool:
    """Whether these checks, all of one part, found no file."""
    return all(each.outcome == "missing" and _told(each).startswith("You handed in no ") for each in checks)


def _failure_for_students(group: Sequence[CheckResult]) -> Failure | None:
    """As a visible check tells it; of hidden checks alone, their cause."""
    if import_failure(group[0]) is None:
        return None
    visible = next((check for check in group if not is_hidden(check)), None)
    return Failure(_told(group[0])) if visible is None else import_failure(visible)


def _told(check: CheckResult) -> str:
    told = for_students(check)
    return "" if told is None else told.got or told.cause


def _sentence(check: CheckResult) -> tuple[str, str]:
    """What is said of this check and may be said of others, and a hint beside it; "" for what is its own."""
    if import_failure(check) is not None:
        return f"{check.part}.py does not import", ""
    text = _told(check)
    if check.outcome == "not_run":
        return (text if text.startswith("Not run, ") else ""), ""
    unwritten, undefined = _UNWRITTEN.fullmatch(text), _UNDEFINED.fullmatch(text)
    if check.outcome != "missing":
        return "", ""
    if unwritten is not None:
        return f"not implemented yet: {unwritten[1]}", ""
    return ("", "") if undefined is None else (f"not defined in {undefined[2]}: {undefined[1]}", undefined[3] or "")
