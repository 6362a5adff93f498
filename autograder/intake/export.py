"""A Gradescope export (`submission_metadata.yml` and a folder a submission) -> who handed in what.

The file is a Ruby dump of tens of megabytes with every earlier result in it. It is read as a stream of events, and of
each mapping only the few keys that matter are kept: all values as text, so that a student number 0222 stays one. Ruby
writes an object that it has written before as an alias, so what has an anchor is kept for the aliases that follow.
Earlier submissions (`:history`) are not graded, and scores are not read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import msgspec
import yaml

from autograder.errors import SoftmarkError
from autograder.results import Submitter

METADATA = ("submission_metadata.yml", "submission_metadata.yaml")
BARE_END = re.compile(rb"^\.\.\.[ \t]*\r?$", re.MULTILINE)
"""A bare `...` between entries, after which a document may not begin without `---`."""
KEY = re.compile(rb"^:?['\"]?(\w[\w.-]*)['\"]?:", re.MULTILINE)
DEEPEST = 50
"""Below so many levels nothing is kept: names stand on the fourth."""
PERSON = ("name", "sid", "email")
KEPT = frozenset({"submitters", "created_at", "<<", *PERSON})
"""The keys that are kept of an entry, and of a person in it."""
LARGEST_SEARCHED = 64 << 20
LARGEST = 1 << 30
LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""The fast one where libyaml is there. It leaves every value as text."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One submission as the export lists it. Several submitters are a group."""

    folder: str
    submitters: tuple[Submitter, ...] = ()
    created_at: str = ""


def lists_what_is_there(metadata: Path) -> bool:
    """Whether a metadata file names a folder beside it. It may be a student's: it is searched, not parsed."""
    try:
        with open(metadata, "rb") as file:
            keys = {key.decode() for key in KEY.findall(file.read(LARGEST_SEARCHED))}
        return any(child.name in keys and child.is_dir() for child in metadata.parent.iterdir())
    except OSError:
        return False


def read_metadata(path: Path) -> list[Entry]:
    """The submissions that an export lists, in its order.

    Raises:
        SoftmarkError: no YAML, or one submission listed twice.
    """
    try:
        data = path.read_bytes() if path.stat().st_size <= LARGEST else None
    except OSError as error:
        raise SoftmarkError(f"{path} could not be read ({error.strerror}): make it readable.") from error
    remedy = "export the submissions from Gradescope again, or remove this file to grade the folders without names"
    if data is None:
        raise SoftmarkError(f"{path} is larger than {LARGEST >> 30} GB: {remedy}.")
    try:
        entries = list(_entries(_events(BARE_END.sub(b"---", data))))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}," if mark else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise SoftmarkError(f"{path}{line} is not YAML ({problem}): {remedy}.") from error
    for name, times in Counter(entry.folder for entry in entries).items():
        if times > 1:
            raise SoftmarkError(f"{path} lists {name} {times} times: {remedy}.")
        if not re.fullmatch(r"\w[\w.-]*", name):
            raise SoftmarkError(f"{path} lists {name!r}, which is no submission's name: {remedy}.")
    return entries


def _events(data: bytes) -> Iterator[Any]:
    yield from yaml.parse(data, Loader=LOADER)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _entries(events: Iterator[Any]) -> Iterator[Entry]:
    """Every key of a top-level mapping, of whichever document, that is a submission's."""
    anchors: dict[str, Any] = {}
    for event in events:
        if isinstance(event, yaml.MappingStartEvent):
            for key, value in _pairs(events, anchors, everything=True):
                fields = _table(value)
                people = cast("list[Any]", listed) if isinstance(listed := fields.get("submitters"), list) else []
                yield Entry(
                    folder=key,
                    submitters=tuple(_submitter(person) for person in people if isinstance(person, dict)),
                    created_at=_text(fields.get("created_at")),
                )
        elif isinstance(event, yaml.SequenceStartEvent):
            _value(event, events, anchors)


def _pairs(
    events: Iterator[Any], anchors: dict[str, Any], depth: int = 1, *, everything: bool = False
) -> Iterator[tuple[str, Any]]:
    """Keys and values of the mapping that has begun: those of `KEPT`, or all that are text."""
    for event in events:
        if isinstance(event, yaml.MappingEndEvent):
            return
        key, value = _value(event, events, anchors, depth), _value(next(events), events, anchors, depth)
        if isinstance(key, str) and (everything or key.removeprefix(":") in KEPT):
            yield key.removeprefix(":"), value


def _value(first: Any, events: Iterator[Any], anchors: dict[str, Any], depth: int = 0) -> Any:
    """The value that begins with an event: text, a list, or the `KEPT` keys of a mapping. An alias is the same object.

    So a file in which aliases multiply (a bomb) takes no more room here than it does on disk.
    """
    value: Any = None
    if isinstance(first, yaml.AliasEvent):
        return anchors.get(first.anchor)
    if isinstance(first, yaml.ScalarEvent):
        value = None if first.implicit[0] and first.value in ("~", "null") else str(first.value)
    elif depth > DEEPEST:
        while depth > DEEPEST:
            event = next(events)
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
    elif isinstance(first, yaml.SequenceStartEvent):
        value = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            value.append(_value(event, events, anchors, depth + 1))
    else:
        own = dict(_pairs(events, anchors, depth + 1))
        value = {**_table(own.pop("<<", None)), **own}
    if first.anchor:
        anchors[first.anchor] = value
    return value


def _submitter(person: Any) -> Submitter:
    return Submitter(**{key: _text(_table(person).get(key)) for key in PERSON})


def _table(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
