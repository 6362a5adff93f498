"""What late work costs. It depends on the platform's times alone, so that grading again gives the same.

Lateness is counted from the due date (the platform's, which includes one student's extension; else the manifest's),
plus extra time of accommodations, plus the grace. Each day, or hour, that has begun after that costs the same. In a
group the member with the latest due date counts for all. Where a time or the due date is not known, nothing is taken
off, and staff reads why.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec

from autograder.assignment.assignment import Assignment
from autograder.assignment.manifest import Late
from autograder.errors import SoftmarkError
from autograder.results import Grade, Lateness, Submitter
from autograder.toml_file import read_toml

ACCOMMODATIONS = "accommodations.toml"
"""In `checks/hidden/`: extra time is between a student and the course, and students get the manifest."""

_DECIMALS = 6
_MOST_DAYS = 3660
_TIME = re.compile(
    r"(?P<date>\d{4}-\d{2}-\d{2})[T ](?P<time>\d{2}:\d{2}:\d{2})(?:\.(?P<fraction>\d+))?\s*"
    r"(?P<zone>Z|UTC|[+-]\d{2}:?\d{2})?",
    re.IGNORECASE,
)
_EXTRA = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>days?|hours?)")


@dataclass(frozen=True)
class ExtraTime:
    """Extra time of one student: days by the clock of the manifest's time zone, hours as they pass."""

    days: int = 0
    hours: float = 0.0


@dataclass(frozen=True)
class Policy:
    """A manifest's `[late]` table and the extra time of single students, by e-mail or id in small letters."""

    late: Late
    extra: Mapping[str, ExtraTime] = field(default_factory=dict[str, ExtraTime])


def policy_of(assignment: Assignment) -> Policy | None:
    """The assignment's policy; None where late work costs nothing. Raises `SoftmarkError` for a wrong accommodation."""
    if assignment.late is None:
        return None
    path = assignment.hidden / ACCOMMODATIONS
    try:
        table = read_toml(path)
    except FileNotFoundError:
        table = {}
    return Policy(assignment.late, {_who(name): _extra(name, value, path) for name, value in table.items()})


def _extra(name: str, value: object, path: Path) -> ExtraTime:
    match = _EXTRA.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or not _who(name):
        raise SoftmarkError(
            f"{path}: the extra time of {name!r} is {value!r}; write it as '2 days' or '36 hours', under an e-mail "
            f"address or an id."
        )
    number = float(match["number"])
    days = match["unit"].startswith("day")
    if number > _MOST_DAYS * (1 if days else 24) or (days and number != int(number)):
        raise SoftmarkError(
            f"{path}: the extra time of {name!r} is {value!r}; write whole days (or hours), ten years at most."
        )
    return ExtraTime(days=int(number)) if days else ExtraTime(hours=number)


def not_here(policy: Policy | None, people: Sequence[Submitter]) -> list[str]:
    """Who has extra time and is not among those who handed in; nobody where no hand-in says whose it is."""
    known = {_who(name) for each in people for name in (each.email, each.sid)}
    return sorted(policy.extra.keys() - known) if policy is not None and people else []


# ------------------------------------------------------------------ what it costs


def penalty(policy: Policy, created_at: str, due: str = "", submitters: Sequence[Submitter] = ()) -> Lateness:
    """What a hand-in of that time costs.

    Args:
        policy: of the assignment.
        created_at: when it was handed in, as the platform writes it: ISO 8601 with an offset.
        due: the due date that the platform gives for these students, likewise; empty where it gives none.
        submitters: who handed in; several are a group.

    Returns:
        Percents and hours, and a sentence for the student where something is taken off; where it could not be told,
        why.
    """
    late, zone = policy.late, policy.late.zone
    try:
        handed_in = _moment(created_at, zone, min, "the time of the submission")
        deadline = _due(late, due, zone)
    except ValueError as why:
        return _lateness(late, staff=f"The late policy was not applied: {why}.")
    deadline = max(_later(deadline, extra, zone) for extra in _extra_of(policy, submitters))
    begun = _begun(late, handed_in, deadline + timedelta(minutes=late.grace_minutes), zone)
    hours = max(0.0, (handed_in - deadline) / timedelta(hours=1))
    if not begun:
        return _lateness(late, hours=hours)
    percent = min(100.0, begun * late.penalty_percent)
    return _lateness(late, percent, _sentence(late, handed_in, deadline, begun, percent), hours=hours)


def points_after(points: float, maximum: float, late: Lateness) -> float:
    """The points that remain of those earned: never below 0, never below the floor, never above what was earned."""
    base = points if late.of == "points" else maximum
    remain = max(0.0, points - base * late.percent / 100.0, points * late.floor_percent / 100.0)
    return round(min(points, remain), _DECIMALS)


def total_of(grade: Grade, late: Lateness | None) -> float:
    """The points of the parts, less what late work costs, and extra credit on top, up to the maximum and the cap."""
    earned = round(math.fsum(part.points for part in grade.parts), _DECIMALS)
    remain = points_after(earned, grade.maximum, late or Lateness())
    return round(max(remain, min(remain + grade.extra_credit, grade.maximum + grade.extra_cap)), _DECIMALS)


def applied(grade: Grade, policy: Policy | None, created_at: str, due: str = "") -> Grade:
    """The grade with the policy applied; the very same object where that changes nothing.

    Points are counted from those of the parts, so that applying it again changes nothing.
    """
    late = penalty(policy, created_at, due, grade.submitters) if policy is not None else None
    if grade.points is None or grade.late == late:
        return grade
    return msgspec.structs.replace(grade, late=late, points=total_of(grade, late))


def _lateness(
    late: Late, percent: float = 0.0, sentence: str = "", staff: str = "", hours: float | None = None
) -> Lateness:
    return Lateness(
        percent=percent, of=late.of, floor_percent=late.floor_percent, sentence=sentence, staff=staff, hours=hours
    )


def _extra_of(policy: Policy, submitters: Sequence[Submitter]) -> list[ExtraTime]:
    """The extra time of each member, and none."""
    names = {_who(name) for each in submitters for name in (each.email, each.sid)}
    return [ExtraTime(), *(extra for name, extra in policy.extra.items() if name in names)]


def _who(name: str) -> str:
    return name.strip().casefold()


def _begun(late: Late, handed_in: datetime, free_until: datetime, zone: ZoneInfo | None) -> int:
    """How many days, or hours, have begun since then."""
    passed = handed_in - free_until
    if passed <= timedelta():
        return 0
    if late.per == "hour":
        return -(-passed // timedelta(hours=1))
    begun = max(1, passed // timedelta(hours=25))  # no day of a clock is longer
    while handed_in > _later(free_until, ExtraTime(days=begun), zone):
        begun += 1
    return begun


# ------------------------------------------------------------------ times


def _moment(text: str, zone: ZoneInfo | None, choose: Callable[[Iterable[datetime]], datetime], what: str) -> datetime:
    """A moment as a platform writes it. Raises ValueError with words for staff.

    One without an offset is read by the clock of `zone`; an hour that this clock shows twice is decided by `choose`.
    """
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{what} is {text!r}, not a date and time" if text.strip() else f"{what} is not known")
    said = match["zone"].upper() if match["zone"] else ""
    offset = "" if not said else "+00:00" if said in ("Z", "UTC") else f"{said[:3]}:{said[-2:]}"
    try:
        moment = datetime.fromisoformat(f"{match['date']}T{match['time']}{offset}")
        moment += timedelta(microseconds=int((match["fraction"] or "0")[:6].ljust(6, "0")))
    except (ValueError, OverflowError):
        raise ValueError(f"{what} is {text!r}, not a date and time") from None
    _checked(moment, what)  # before it is put into a zone, which a moment in the year 1 does not stand
    return _checked(moment if offset else _by_the_clock(moment, zone, choose, what), what)


def _due(late: Late, due: str, zone: ZoneInfo | None) -> datetime:
    """The platform's due date, where it has one, else the manifest's. Raises ValueError with words for staff."""
    if due.strip() or late.due is None:
        return _moment(due, zone, max, "the due date")
    if late.due.tzinfo is None:
        return _checked(_by_the_clock(late.due, zone, max, "late.due"), "late.due")
    return _checked(late.due, "late.due")


def _by_the_clock(
    local: datetime, zone: ZoneInfo | None, choose: Callable[[Iterable[datetime]], datetime], what: str
) -> datetime:
    if zone is None:
        raise ValueError(f"{what} is {local.isoformat()}, without an offset, and the manifest names no time zone")
    return choose(local.replace(tzinfo=zone, fold=fold).astimezone(timezone.utc) for fold in (0, 1))


def _checked(moment: datetime, what: str) -> datetime:
    if not 1970 < moment.year < 3000:
        raise ValueError(f"{what} is in the year {moment.year}")
    return moment


def _later(moment: datetime, extra: ExtraTime, zone: ZoneInfo | None) -> datetime:
    """So much later: days at the same time by the clock of `zone`, the later one where it shows that time twice."""
    if extra.days and zone is not None:
        local = moment.astimezone(zone).replace(tzinfo=None) + timedelta(days=extra.days)
        moment = _by_the_clock(local, zone, max, "")
    elif extra.days:
        moment += timedelta(days=extra.days)
    return moment + timedelta(hours=extra.hours)


# ------------------------------------------------------------------ the sentence


def _sentence(late: Late, handed_in: datetime, deadline: datetime, begun: int, percent: float) -> str:
    shown = (deadline.astimezone(late.zone) if late.zone else deadline).strftime("%Y-%m-%d %H:%M %Z")
    grace = f", {_span(timedelta(minutes=late.grace_minutes))} of grace apart" if late.grace_minutes else ""
    what = "the points earned" if late.of == "points" else "the maximum"
    begun_units = f"{begun} {late.per}{'s have' if begun > 1 else ' has'} begun"
    floor = f"; {late.floor_percent:g} % of the points earned remain in any case" if late.floor_percent else ""
    return (
        f"Handed in {_span(handed_in - deadline)} after it was due ({shown}){grace}: {begun_units}, each costs "
        f"{late.penalty_percent:g} %, so {percent:g} % of {what} are taken off{floor}."
    )


def _span(span: timedelta) -> str:
    """A length of time in its two largest units: "1 day 2 hours"."""
    minutes = span // timedelta(minutes=1)
    counts = {"day": minutes // 1440, "hour": minutes // 60 % 24, "minute": minutes % 60}
    said = [f"{count} {unit}{'s' * (count != 1)}" for unit, count in counts.items() if count]
    return " ".join(said[:2]) or "less than a minute"
