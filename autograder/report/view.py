"""What a student and what staff is told of a grade: one tree of facts, which console and results.json render.

What is said of a hidden check is decided here, once: its property, its cause and where to read, never a case, a number,
or what the student's code printed (which may be the hidden case). Texts are whole and not escaped: `lines` does that.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from autograder.assignment.late import points_after, total_of
from autograder.diagnosis.exception_meanings import what_it_means
from autograder.report.lines import labelled
from autograder.report.sentences import near, plain, sentence, unweighed, weighed_by_model
from autograder.results import (
    CheckResult,
    DeadlinePassed,
    Explanation,
    Grade,
    ImportFailed,
    NotDefined,
    NotHandedIn,
    NotImplementedYet,
    Ours,
    Outcome,
    PartPoints,
    Raised,
    Reason,
    Status,
    Stopped,
    WrongForm,
)

ONLY_HERE = {
    "passes at home": "inputs that only the grader has; with those that you have at home, this check passes",
    "not tried at home": "inputs that only the grader has",
}
_FOLDERS = re.compile(r"(?<![\w.:/])/(?:[^/\s'\"]+/)+")


@dataclass(frozen=True)
class CheckView:
    """One check as its student sees it, with nothing else in it. `told` is None where there is nothing to explain."""

    number: str
    title: str
    outcome: Outcome
    points: float
    weight: float
    extra: bool
    hidden: bool
    told: Explanation | None
    printed: str

    @property
    def counted(self) -> float:
        """The points of it that are in the maximum: none for a bonus."""
        return 0.0 if self.extra else self.weight


@dataclass(frozen=True)
class Together:
    """What several checks of one part have in common and is said once: a sentence, and a hint beside it.

    It is about one `function` that is not there, or about the `whole_part`, which was not handed in, or with
    `import_failed` about why the part does not import: `frames` and `meaning` belong to that.
    """

    sentence: str
    checks: tuple[CheckView, ...]
    whole_part: bool = False
    function: str = ""
    hint: str = ""
    import_failed: bool = False
    frames: str = ""
    meaning: str = ""


@dataclass(frozen=True)
class PartView:
    """One part: what is said once of several checks, and the checks of which something is said that is their own."""

    name: str
    together: tuple[Together, ...]
    alone: tuple[CheckView, ...]


@dataclass(frozen=True)
class StudentView:
    """A grade as its student sees it: totals stand in `points`, and `reason` says why nobody could grade it.

    `points` are those of `totals` less what late work costs, `taken_off`.
    """

    submission: str
    status: Status
    points: float | None
    maximum: float
    totals: tuple[PartPoints, ...]
    taken_off: float
    added: float
    reason: str
    notes: tuple[str, ...]
    parts: tuple[PartView, ...]


@dataclass(frozen=True)
class StaffCheck:
    """What staff is told of one check beside what its student is: labelled texts, and what was printed."""

    number: str
    title: str
    lines: tuple[tuple[str, str], ...]
    printed: str


@dataclass(frozen=True)
class StaffView:
    """What staff is told beside the student's view: labelled facts, and checks of which there is more to say."""

    submission: str
    facts: tuple[tuple[str, str], ...]
    checks: tuple[StaffCheck, ...]


# ------------------------------------------------------------------ for students


def student_view(grade: Grade) -> StudentView:
    """The grade as its student sees it."""
    parts = {name: [c for c in grade.checks if c.part == name] for name in dict.fromkeys(c.part for c in grade.checks)}
    return StudentView(
        submission=grade.submission,
        status=grade.status,
        points=grade.points,
        maximum=grade.maximum,
        totals=grade.parts,
        taken_off=taken_off(grade),
        added=added(grade),
        reason=reason_for_students(grade),
        notes=notes_for_students(grade),
        parts=tuple(_part_view(name, checks) for name, checks in parts.items()),
    )


def check_view(check: CheckResult) -> CheckView:
    """One check as its student sees it."""
    hidden = is_hidden(check)
    return CheckView(
        number=check.number,
        title=check.title,
        outcome=check.outcome,
        points=check.score,
        weight=check.weight,
        extra=check.extra,
        hidden=hidden,
        told=for_students(check),
        printed="" if hidden or check.only_here else check.output,
    )


def taken_off(grade: Grade) -> float:
    """The points that late work costs: what the parts' points add up to, less what remains of it."""
    if grade.points is None or grade.late is None or not grade.late.percent:
        return 0.0
    earned = math.fsum(part.points for part in grade.parts)
    return earned - points_after(earned, grade.maximum, grade.late)


def added(grade: Grade) -> float:
    """The points that extra credit adds, as far as the cap lets them count."""
    if grade.points is None or not grade.extra_credit:
        return 0.0
    return total_of(grade, grade.late) - total_of(msgspec.structs.replace(grade, extra_credit=0.0), grade.late)


def is_hidden(check: CheckResult) -> bool:
    """Whether students may see no more of this check than its property and the likely cause."""
    return check.hidden or check.visibility == "hidden"


def is_worth_a_look(check: CheckResult) -> bool:
    """Whether there is something to say of it: of a bonus that was not tried, there is not."""
    return check.counted > 0 or check.outcome not in ("missing", "not_run")


def explained(check: CheckResult) -> Explanation | None:
    """The five lines, with what the reason says in them. Whole: for staff."""
    told, reason = check.explanation, check.reason
    if told is None or reason is None:
        return told
    if isinstance(reason, WrongForm) and not reason.why:
        return msgspec.structs.replace(told, cause=told.cause or plain(reason))
    return msgspec.structs.replace(told, got="\n".join(filter(None, (sentence(reason), frames_of(reason)))))


def frames_of(reason: Reason) -> str:
    """The student's own part of a traceback; "" where there is none."""
    raised = reason.why if isinstance(reason, ImportFailed) else reason
    return raised.frames if isinstance(raised, Raised) else ""


def for_students(check: CheckResult) -> Explanation | None:
    """The explanation as far as a student may see it; None where there is nothing to explain."""
    if isinstance(check.reason, Ours):
        return Explanation(property=check.title, cause=plain(check.reason))
    told = check.explanation if check.hide_errors else explained(check)
    if told is None or not (is_hidden(check) or check.only_here):
        return told
    cause = told.cause or ("" if check.reason is None or check.hide_errors else plain(check.reason))
    wrong, here = check.outcome in ("failed", "partial"), check.only_here and not is_hidden(check)
    case = ONLY_HERE[check.only_here] if here and wrong else ""
    got = sentence(check.reason) if here and check.outcome in ("timed_out", "crashed") and check.reason else ""
    return Explanation(property=told.property, case=case, got=got, cause=cause, read=told.read)


def reason_for_students(grade: Grade) -> str:
    """Why nobody could grade it, without the folders of the machine: the name of what was handed in is enough."""
    before, name, after = grade.reason.partition("/" + grade.submission)
    reason = name[1:] + after if name and ": " not in before else grade.reason
    return _FOLDERS.sub("", reason)


def notes_for_students(grade: Grade) -> tuple[str, ...]:
    """What was noted about the files, how memory was judged, and what late work costs."""
    by_model = ", ".join(check.number for check in grade.checks if check.unweighed)
    late = grade.late.sentence if grade.late is not None else ""
    return (*grade.notes, *filter(None, (weighed_by_model(by_model) if by_model else "", late)))


def _part_view(name: str, checks: Sequence[CheckResult]) -> PartView:
    if is_not_handed_in(checks):
        return PartView(name, (Together("nothing was handed in", tuple(map(check_view, checks)), whole_part=True),), ())
    groups: dict[str, list[CheckResult]] = {}
    for check in checks:
        groups.setdefault(_common(check), []).append(check)
    alone = groups.pop("", [])
    together = tuple(_said_once(common, group) for common, group in groups.items())
    return PartView(name, together, tuple(map(check_view, alone)))


def is_not_handed_in(checks: Iterable[CheckResult]) -> bool:
    """Whether these checks, all of one part, found no file."""
    return all(isinstance(check.reason, NotHandedIn) for check in checks)


def _common(check: CheckResult) -> str:
    """What is said of this check and may be said of others of its part; "" for what is its own."""
    match check.reason:
        case _ if check.hide_errors:
            return ""
        case ImportFailed(part=part):
            return f"{part}.py does not import"
        case NotImplementedYet(function=name):
            return f"not implemented yet: {name}"
        case NotDefined(function=name, file=file):
            return f"not defined in {file}: {name}"
        case (DeadlinePassed() | Stopped()) as reason:
            return sentence(reason)
        case _:
            return ""


def together(check: CheckResult) -> Together | None:
    """What is said of this check, where it is said once of several; None where it is told by itself."""
    common = _common(check)
    return _said_once(common, [check]) if common else None


def _said_once(common: str, checks: Sequence[CheckResult]) -> Together:
    """As a visible check tells it; of hidden checks alone, their cause."""
    views = tuple(map(check_view, checks))
    visible = next((check for check in checks if not is_hidden(check)), None)
    reason = (visible or checks[0]).reason
    if isinstance(reason, (NotDefined, NotImplementedYet)):
        hint = near(reason) if visible and isinstance(reason, NotDefined) else ""
        return Together(common, views, function=reason.function, hint=hint)
    if not isinstance(reason, ImportFailed):
        return Together(common, views)
    why = sentence(reason.why)
    if visible is None:
        told = checks[0].explanation
        return Together(f"{common}: {told.cause if told and told.cause else why}", views, import_failed=True)
    return Together(
        f"{common}: {why}", views, import_failed=True, frames=frames_of(reason), meaning=what_it_means(reason)
    )


# ------------------------------------------------------------------ for staff


def staff_view(grade: Grade) -> StaffView:
    """What staff is told beside the student's view: facts, and of each check what the student is not told."""
    alone = {check.number for part in student_view(grade).parts for check in part.alone}
    checks = [_for_staff(check) for check in grade.checks if check.number in alone]
    return StaffView(
        grade.submission, tuple(_facts(grade)), tuple(each for each in checks if each.lines or each.printed.strip())
    )


def staff_notes(grade: Grade) -> tuple[str, ...]:
    """What staff is told of the submission as a whole."""
    return (*grade.staff, *filter(None, [grade.late.staff if grade.late is not None else ""]))


def _for_staff(check: CheckResult) -> StaffCheck:
    told, whole = for_students(check), explained(check)
    seen = {text for _, text in labelled(told)} if told is not None else set[str]()
    lines = [(label, text) for label, text in labelled(whole) if text not in seen] if whole is not None else []
    lines += [("staff", text) for text in (for_staff(check), unweighed(check.unweighed)) if text]
    if check.outcome in ("timed_out", "crashed"):
        lines.append(("time", f"{check.cpu_seconds:.3g} s of CPU, {check.wall_seconds:.3g} s in all"))
    printed = check.output if (is_hidden(check) or check.only_here) and check.outcome != "passed" else ""
    return StaffCheck(check.number, check.title, tuple(lines), printed)


def for_staff(check: CheckResult) -> str:
    """What neither the explanation nor the reason of a student's says: the fault, where it is ours."""
    return check.staff or (check.reason.error if isinstance(check.reason, Ours) else "")


def _facts(grade: Grade) -> list[tuple[str, str]]:
    facts = [("status", grade.status), ("reason", grade.reason)]
    facts += [("note", note) for note in notes_for_students(grade)]
    facts += [("staff", line) for line in staff_notes(grade)]
    facts += [("sandbox", ", ".join(f"{layer}: {state}" for layer, state in sorted(grade.sandbox.items())))]
    cpu = math.fsum(check.cpu_seconds for check in grade.checks)
    facts += [("time", f"{cpu:.3g} s of CPU, {grade.wall_seconds:.3g} s in all")]
    facts += [("also handed in", ", ".join(grade.held))]
    if grade.key is not None:
        versions = grade.key.versions
        facts += [("versions", f"softmark {versions.softmark}, torch {versions.torch}, Python {versions.python}")]
    return [(label, text) for label, text in facts if text]
