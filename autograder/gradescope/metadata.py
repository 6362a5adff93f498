"""What the platform says of a submission (`submission_metadata.json`): who, when, when it was due, what came before.

Every key is optional and unknown ones are passed over, since the platform reserves the right to change them: a file
that is missing or broken yields empty fields and a line for staff, never a failure. Times stay as they were written; no
clock is read. What late work costs is `late`'s business.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, cast

from autograder.results import Submitter

FILE = "submission_metadata.json"
_LARGEST = 64 << 20
_MOST_PEOPLE = 50
_CHARACTERS = 300


@dataclass(frozen=True)
class SubmissionMetadata:
    """One submission as the platform describes it.

    Attributes:
        id: of the submission; empty where it is not told.
        created_at: when it was handed in, as it was written (ISO 8601 with an offset); empty where it is not told.
        due: when it was due for those who handed in, likewise: the latest of them where one has an extension.
        submitters: who handed in; several are a group. The platform tells no student number.
        group: whether the assignment takes groups.
        method: "upload", "GitHub" or "Bitbucket".
        previous: how many submissions came before.
        staff: what could not be read, in sentences.
    """

    id: str = ""
    created_at: str = ""
    due: str = ""
    submitters: tuple[Submitter, ...] = ()
    group: bool = False
    method: str = ""
    previous: int = 0
    staff: tuple[str, ...] = ()

    @property
    def in_time(self) -> bool:
        """Whether it was handed in before it was due; true where nobody knows."""
        return not self.due or not self.created_at or _moment(self.created_at) <= _moment(self.due)

    @property
    def name(self) -> str:
        """What its grade is called, as in the platform's own export: `submission_409194023`."""
        plain = "".join(letter for letter in self.id if letter.isascii() and letter.isalnum())[:40]
        return f"submission_{plain}" if plain else "submission"


def read_metadata(path: Path) -> SubmissionMetadata:
    """Read the file as far as it can be read. Raises nothing."""
    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            return SubmissionMetadata(staff=(f"{FILE} is larger than {_LARGEST >> 20} MB and was not read.",))
        content = json.loads(data.decode("utf-8-sig", "replace"))
    except FileNotFoundError:
        return SubmissionMetadata(staff=(f"There is no {FILE}: nothing is known of who handed in and when.",))
    except (OSError, ValueError, RecursionError) as error:
        return SubmissionMetadata(staff=(f"{FILE} could not be read ({error!r:.200}).",))
    if not isinstance(content, dict):
        return SubmissionMetadata(staff=(f"{FILE} holds no object at its top.",))
    return _read(cast("dict[str, Any]", content))


def _read(top: Mapping[str, Any]) -> SubmissionMetadata:
    assignment = _table(top.get("assignment"))
    users = [_table(user) for user in _list(top.get("users"))[:_MOST_PEOPLE] if isinstance(user, dict)]
    dates = [_table(user.get("assignment")) for user in users]
    faults: list[str] = []
    return SubmissionMetadata(
        id=_text(top.get("id")),
        created_at=_time(top.get("created_at"), "created_at", faults),
        due=_latest("due_date", assignment, dates, faults),
        submitters=tuple(Submitter(name=_text(user.get("name")), email=_text(user.get("email"))) for user in users),
        group=assignment.get("group_submission") is True or len(users) > 1,
        method=_text(top.get("submission_method")),
        previous=len(_list(top.get("previous_submissions"))),
        staff=tuple(faults),
    )


def _latest(key: str, assignment: Mapping[str, Any], dates: Iterable[Mapping[str, Any]], faults: list[str]) -> str:
    """The date that holds for those who handed in: their own where the platform tells it, else the assignment's."""
    own = [said for each in dates if (said := _time(each.get(key), f"a user's {key}", faults))]
    return max(own, key=_moment) if own else _time(assignment.get(key), key, faults)


def _time(value: Any, what: str, faults: list[str]) -> str:
    """A time as it was written, or "" with a line for staff where it is none."""
    text = _text(value).strip()
    if text and _moment(text) == _NEVER:
        faults.append(f"{FILE}: {what} is {text!r:.80}, which is not a time; it is ignored.")
        return ""
    return text


_NEVER = datetime.min.replace(tzinfo=timezone.utc)


def _moment(text: str) -> datetime:
    """For comparing: a time without an offset is taken for UTC, what is no time lies before all others."""
    date, _, fraction = text.replace("Z", "+00:00").partition(".")
    digits = len(fraction) - len(fraction.lstrip("0123456789"))
    try:
        moment = datetime.fromisoformat(date + fraction[digits:].strip())
    except ValueError:
        return _NEVER
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)


def _table(value: Any) -> Mapping[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _text(value: Any) -> str:
    """A string or a number as text, bounded; anything else as nothing."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return ""
    return str(value)[:_CHARACTERS].encode("utf-8", "replace").decode()
