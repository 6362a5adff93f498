"""A Gradescope export (`submission_metadata.yml` and a folder a submission) -> who handed in what.

The file is a Ruby dump of tens of megabytes with every earlier result in it. It is read as a stream of events, of which
only the few that matter are kept: all values as text, so that a student number 0222 stays one. Earlier submissions
(`:history`) are not graded, and scores in it are not read.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import yaml

from autograder.errors import SoftmarkError
from autograder.results import Submitter

METADATA = ("submission_metadata.yml", "submission_metadata.yaml")
BARE_END = re.compile(rb"^\.\.\.[ \t]*\r?$", re.MULTILINE)
"""A bare `...` between entries, after which a document may not begin without `---`."""
LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""The fast one where libyaml is there. It leaves every value as text."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One submission as the export lists it. Several submitters are a group."""

    folder: str
    submitters: tuple[Submitter, ...] = ()
    created_at: str = ""


def metadata_file(folder: Path) -> Path | None:
    """The export's metadata in that folder, or in the only folder within it; None where it is no export."""
    for place in (folder, *(child for child in _only_folder(folder))):
        for name in METADATA:
            if os.path.isfile(place / name):  # False, too, where the folder may not be looked into
                return place / name
    return None


def read_metadata(path: Path) -> list[Entry]:
    """The submissions that an export lists, in its order.

    Raises:
        SoftmarkError: no YAML, or one submission listed twice.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SoftmarkError(f"{path} could not be read ({error.strerror}): make it readable.") from error
    remedy = "export the submissions from Gradescope again, or remove this file to grade the folders without names"
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


def _only_folder(folder: Path) -> list[Path]:
    children = [child for child in folder.iterdir() if child.is_dir() and not child.name.startswith((".", "__MACOSX"))]
    return children if len(children) == 1 else []


def _events(data: bytes) -> Iterator[Any]:
    yield from yaml.parse(data, Loader=LOADER)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _entries(events: Iterator[Any]) -> Iterator[Entry]:
    """Every key of a top-level mapping, of whichever document, that is a submission's."""
    for event in events:
        if isinstance(event, yaml.MappingStartEvent):
            for key, first in _pairs(events):
                fields = _fields(first, events)
                yield Entry(
                    folder=key,
                    submitters=tuple(_submitter(one) for one in fields.get("submitters", [])),
                    created_at=fields.get("created_at", ""),
                )
        elif isinstance(event, yaml.SequenceStartEvent):
            _skip(event, events)


def _pairs(events: Iterator[Any]) -> Iterator[tuple[str, Any]]:
    """The keys of the mapping that has begun, each with the first event of its value, which the caller must use up."""
    for event in events:
        if isinstance(event, yaml.MappingEndEvent):
            return
        if not isinstance(event, yaml.ScalarEvent):  # a key that is no text: none of ours
            _skip(event, events)
            _skip(next(events), events)
            continue
        yield str(event.value).removeprefix(":"), next(events)


def _fields(first: Any, events: Iterator[Any]) -> dict[str, Any]:
    """Of a submission's mapping: its submitters and its time. Results and history go by unread."""
    fields: dict[str, Any] = {}
    if not isinstance(first, yaml.MappingStartEvent):
        _skip(first, events)
        return fields
    for key, value in _pairs(events):
        if key == "submitters" and isinstance(value, yaml.SequenceStartEvent):
            fields[key] = list(_people(events))
        elif key == "created_at" and isinstance(value, yaml.ScalarEvent):
            fields[key] = str(value.value)
        else:
            _skip(value, events)
    return fields


def _people(events: Iterator[Any]) -> Iterator[dict[str, str]]:
    for event in events:
        if isinstance(event, yaml.SequenceEndEvent):
            return
        if not isinstance(event, yaml.MappingStartEvent):
            _skip(event, events)
            continue
        person: dict[str, str] = {}
        for key, value in _pairs(events):
            if isinstance(value, yaml.ScalarEvent):
                person[key] = "" if value.implicit[0] and value.value in ("~", "null") else str(value.value)
            else:
                _skip(value, events)
        yield person


def _submitter(person: dict[str, str]) -> Submitter:
    return Submitter(**{key: person.get(key, "") for key in Submitter.__struct_fields__})


def _skip(first: Any, events: Iterator[Any]) -> None:
    """Pass over one value, whose first event has been taken."""
    depth = 1 if isinstance(first, yaml.CollectionStartEvent) else 0
    while depth:
        event = next(events)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
