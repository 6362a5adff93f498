"""What grading yields: one `CheckResult` a check, one `Grade` a submission, and their JSON.

All types are frozen and are read strictly. Reasons and explanations are facts; `report` makes sentences of them.
"""

from __future__ import annotations

import hashlib
import math
import re
from typing import ClassVar, Literal

import msgspec

Outcome = Literal["passed", "partial", "failed", "crashed", "timed_out", "missing", "not_run", "broken"]
Visibility = Literal["visible", "hidden", "after_due_date", "after_published"]
Status = Literal["graded", "incomplete", "ungraded"]


# ------------------------------------------------------------------ reasons


def _tag(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


class _Reason(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag=_tag, omit_defaults=True):
    """Why a check could not be judged, or what student code did instead of returning: facts, from which
    `report.sentences` makes what people read. In JSON its `kind` is the class's name, as in "import_failed".
    """

    outcome: ClassVar[Outcome] = "failed"


class Raised(_Reason, frozen=True, kw_only=True):
    """Student code raised. `kinds` are names in the MRO, most special first; `frames` are the student's own."""

    function: str = ""
    kinds: tuple[str, ...] = ()
    message: str = ""
    frames: str = ""

    @property
    def line(self) -> str:
        """As Python ends a traceback: "ValueError: no text"."""
        kind = self.kinds[0] if self.kinds else "Exception"
        return f"{kind}: {self.message}" if self.message else kind


class Unreadable(_Reason, frozen=True, kw_only=True):
    """A function returned what no check can read: a value of type `type_name`, at `where` inside the result."""

    function: str
    type_name: str
    where: str = ""
    why: str = ""


class WrongForm(_Reason, frozen=True, kw_only=True):
    """A function returned something of another form than is asked for: `why`, or "" where the check tripped over it."""

    function: str = ""
    why: str = ""


class ReturnedObject(_Reason, frozen=True, kw_only=True):
    """A function returned an object (of type `type_name`) where a value is asked for."""

    function: str
    type_name: str = ""


class NotHandedIn(_Reason, frozen=True, kw_only=True):
    """There is no such file."""

    outcome: ClassVar[Outcome] = "missing"
    file: str


class NotDefined(_Reason, frozen=True, kw_only=True):
    """The file does not define the function; `near` is a name like it that is there."""

    outcome: ClassVar[Outcome] = "missing"
    function: str
    file: str
    near: str = ""


class NotImplementedYet(_Reason, frozen=True, kw_only=True):
    """The function raises `NotImplementedError`, as in the starter."""

    outcome: ClassVar[Outcome] = "missing"
    function: str


class Crashed(_Reason, frozen=True, kw_only=True):
    """The worker's process ended: by a signal ("SIGSEGV"), by itself with a status, or for the size of its files."""

    outcome: ClassVar[Outcome] = "crashed"
    function: str = ""
    signal: str = ""
    status: int = 0
    overfull: bool = False


class AnsweredWrongly(_Reason, frozen=True, kw_only=True):
    """Student code wrote into the channel that carries its results."""

    outcome: ClassVar[Outcome] = "crashed"


class ReturnedTooMuch(_Reason, frozen=True, kw_only=True):
    """All that came back in one check is more than `megabytes`."""

    outcome: ClassVar[Outcome] = "crashed"
    megabytes: int


class CalledBackTooMuch(_Reason, frozen=True, kw_only=True):
    """Functions that a check handed in were called more than `calls` times, or with more than `megabytes` in all."""

    outcome: ClassVar[Outcome] = "crashed"
    calls: int
    megabytes: int


class TimedOut(_Reason, frozen=True, kw_only=True):
    """A call took more than so many seconds: of the processor ("cpu"), or of the clock while it waited ("wall")."""

    outcome: ClassVar[Outcome] = "timed_out"
    of: Literal["cpu", "wall"]
    seconds: float
    function: str = ""


class GivenUp(_Reason, frozen=True, kw_only=True):
    """The function had timed out in `times` checks before this one, which was not tried."""

    outcome: ClassVar[Outcome] = "timed_out"
    function: str
    times: int


class ImportFailed(_Reason, frozen=True, kw_only=True):
    """`<part>.py` does not import. The outcome is that of `why`; *not_run* where it raised."""

    part: str
    why: Raised | Crashed | AnsweredWrongly | ReturnedTooMuch | TimedOut


class DeadlinePassed(_Reason, frozen=True, kw_only=True):
    """The `seconds` for all checks together had passed before this one."""

    outcome: ClassVar[Outcome] = "not_run"
    seconds: float


class Stopped(_Reason, frozen=True, kw_only=True):
    """Grading was stopped before this check."""

    outcome: ClassVar[Outcome] = "not_run"


class Ours(_Reason, frozen=True, kw_only=True):
    """The check or the grader failed: `error`, `where` in a check file ("test_x.py, line 5")."""

    outcome: ClassVar[Outcome] = "broken"
    error: str
    where: str = ""


Reason = (
    Raised
    | Unreadable
    | WrongForm
    | ReturnedObject
    | NotHandedIn
    | NotDefined
    | NotImplementedYet
    | Crashed
    | AnsweredWrongly
    | ReturnedTooMuch
    | CalledBackTooMuch
    | TimedOut
    | GivenUp
    | ImportFailed
    | DeadlinePassed
    | Stopped
    | Ours
)


def outcome_of(reason: Reason) -> Outcome:
    """The outcome of a check that ended for this reason."""
    if isinstance(reason, ImportFailed):
        return "not_run" if isinstance(reason.why, Raised) else reason.why.outcome
    return reason.outcome


# ------------------------------------------------------------------ a grade


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """The five lines of a failing check, in the order in which they are shown. An empty line is not shown.

    A record holds those that a check and its diagnosis found; what a `reason` says is put in where it is shown.
    """

    property: str
    case: str = ""
    expected: str = ""
    got: str = ""
    cause: str = ""
    read: str = ""


class CheckResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one check (all items of a parametrised one together).

    `outcome` says what happened: *passed* in full; *partial* credit; *failed* by its assertion or by an exception of
    the student's; *crashed* (the worker died); *timed_out*; *missing* (the function is not there or not implemented);
    *not_run* (its part did not import, or the deadline came first); *broken* (the check itself or the grader failed:
    `staff` says how, and the grade is incomplete). `reason` is set where it did not end by an assertion. `staff` is
    what the explanation and the reason do not hold. `unweighed` says why the allocation model alone judged memory.
    With `hide_errors` the explanation holds the author's words, and students are told nothing else. `only_here` says of
    a visible check that explanation, reason and output are those of inputs that the student does not have, and whether
    it passes with those at home. The points of an `extra` one are in no part's maximum.
    """

    number: str
    name: str
    part: str
    title: str
    weight: float
    score: float
    outcome: Outcome
    hidden: bool = False
    visibility: Visibility = "visible"
    reason: Reason | None = None
    explanation: Explanation | None = None
    hide_errors: bool = False
    only_here: Literal["", "passes at home", "not tried at home"] = ""
    unweighed: str = ""
    output: str = ""
    staff: str = ""
    tags: tuple[str, ...] = ()
    extra: bool = False
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.score) and 0.0 <= self.score <= self.weight):
            raise ValueError(f"check {self.number}: a score of {self.score} is not in [0, {self.weight}]")

    @property
    def counted(self) -> float:
        """The points of it that are in the maximum: none for a bonus."""
        return 0.0 if self.extra else self.weight


class PartPoints(msgspec.Struct, frozen=True, kw_only=True):
    """Points of one part, out of the maximum that the manifest declares."""

    part: str
    number: int
    points: float
    maximum: float


class LeaderboardEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One column of the leaderboard, as Gradescope knows it."""

    name: str
    value: float | str | None
    order: Literal["asc", "desc"] = "desc"


class Submitter(msgspec.Struct, frozen=True, kw_only=True):
    """One person of those who handed in, as an export names them. `sid` is text: leading zeros count.

    `id` is the platform's own: `canvas:` and the user, `moodle:` and the participant, `github:` and the login.
    """

    name: str = ""
    sid: str = ""
    email: str = ""
    id: str = ""


class Lateness(msgspec.Struct, frozen=True, kw_only=True):
    """What late work costs a grade: `percent` of its points, or of its maximum; `floor_percent` of its points remain.

    `sentence` says so to the student, where anything is taken off; `staff` says why it could not be told. `hours` have
    passed since the due date that held (extra time counts, grace does not): 0 in time, None where it could not be told.
    """

    percent: float = 0.0
    of: Literal["points", "maximum"] = "points"
    floor_percent: float = 0.0
    sentence: str = ""
    staff: str = ""
    hours: float | None = None


class Versions(msgspec.Struct, frozen=True, kw_only=True):
    """What a grade depends on beside the submission and the assignment."""

    softmark: str
    torch: str
    python: str


class Override(msgspec.Struct, frozen=True, kw_only=True):
    """Points that a person gave for one check, or as the total, of one hand-in: a line of `overrides.jsonl`.

    Those of a check count before lateness, a total after it. `hand_in` is the hand-in's digest, or why it is ungraded.
    """

    submission: str
    hand_in: str
    check: str
    points: float
    why: str
    who: str
    when: str
    person: str = ""


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """Hashes of everything that a grade depends on: when one differs, the grade is stale."""

    submission: str
    assignment: str
    grader: str
    versions: Versions


class Grade(msgspec.Struct, frozen=True, kw_only=True):
    """All check results of one submission: the content of `grade.json`.

    `status` is *graded*; *incomplete* (a check of ours broke, or the run was cut short: `reason`); or *ungraded*
    (nobody could read what was handed in: `reason`), in which case `points` is None. `notes` are said to the student
    (a renamed file was recognised, a function was defined twice); `staff` are not. `held` are files of the hand-in from
    which no part was taken. `points` are those of the parts, less what `late` takes off, and `extra_credit` as far as
    it counts (`late.total_of`): up to `extra_cap` above the maximum. `checksum` stands in files alone: `to_json` writes
    and `from_json` checks it.
    """

    submission: str
    assignment: str
    status: Status
    points: float | None
    maximum: float
    parts: tuple[PartPoints, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    notes: tuple[str, ...] = ()
    staff: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    reason: str = ""
    leaderboard: tuple[LeaderboardEntry, ...] = ()
    submitters: tuple[Submitter, ...] = ()
    late: Lateness | None = None
    extra_credit: float = 0.0
    extra_cap: float = 0.0
    sandbox: dict[str, str] = {}
    wall_seconds: float = 0.0
    key: Key | None = None
    checksum: str = ""


def number_key(number: str) -> tuple[tuple[int, int, str], ...]:
    """Sorts "2.10" after "2.9", and "2.1b" right after "2.1"."""
    return tuple((0, int(bit), "") if bit.isdigit() else (1, 0, bit) for bit in re.findall(r"\d+|[^\d.\s]+", number))


EDITED = "edited: grade.json is not as the grader wrote it (its checksum differs), so somebody changed it."


def to_json(grade: Grade) -> bytes:
    """The grade as indented UTF-8 JSON with a final newline. Its last field is the SHA-256 of the rest."""
    data = msgspec.json.format(msgspec.json.encode(grade), indent=1) + b"\n"
    head, _, tail = data.rpartition(b'""')
    return b'%b"%b"%b' % (head, hashlib.sha256(data).hexdigest().encode(), tail)


def from_json(data: bytes) -> Grade:
    """Read a grade back; where its checksum is wrong, `EDITED` is among the lines for staff.

    The checksum is no secret: it tells of a slip, and not of a forger who knows this file.

    Raises `msgspec.DecodeError` for anything that is not exactly one grade.
    """
    grade = msgspec.json.decode(data, type=Grade, strict=True)
    head, _, tail = data.rpartition(b'"%b"' % grade.checksum.encode())
    said = grade.staff
    if hashlib.sha256(b'%b""%b' % (head, tail)).hexdigest() != grade.checksum:
        said = (EDITED, *(line for line in said if line != EDITED))
    return msgspec.structs.replace(grade, checksum="", staff=said)
