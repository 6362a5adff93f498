"""The content of `assignment.toml`: typed tables, and a sentence for whatever does not fit them.

The types, with their bounds and descriptions, are the one source of truth: the loader converts by them, the JSON Schema
for editors (`schema`) is made from them, and a fault is worded from that schema.
"""

from __future__ import annotations

import difflib
import keyword
import sys
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, cast
from zoneinfo import ZoneInfo

import msgspec
from msgspec import Meta

from autograder.assignment.schema import TOML_DATE_TIME, expectation, node_at
from autograder.errors import SoftmarkError
from autograder.toml_file import read_toml
from autograder.worker.protocol.bans import RULE

TAKEN_NAMES = frozenset({"torch", "numpy", "autograder", "softmark", "softmark_worker"}) | sys.stdlib_module_names

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_DATE_TIME = r"^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})?$"
_NO_KEYWORD = {"not": {"pattern": rf"(^|\.)({'|'.join(sorted(keyword.kwlist))})(\.|$)"}}

# At least, never more than: the draft of JSON Schema that all editors read has no numeric exclusiveMinimum.
Seconds = Annotated[float, Meta(ge=0.1, le=86_400)]
Percent = Annotated[float, Meta(ge=0, le=100)]
FunctionName = Annotated[
    str,
    Meta(
        pattern=rf"^{_NAME}(\.{_NAME})*$",
        description="The name of a function or class, or of a method as in `Attention.step`.",
        extra_json_schema=_NO_KEYWORD,
    ),
]


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a worker may use. Seconds are CPU time of the worker; `total_seconds` is wall time of one whole submission.

    `memory_mb` is the allowance in MiB above the worker's address space at its fork.
    """

    cpu_seconds: Annotated[Seconds, Meta(description="CPU seconds of one check, where it sets no timeout.")] = 10.0
    import_seconds: Annotated[Seconds, Meta(description="CPU seconds of importing one part's file.")] = 20.0
    memory_mb: Annotated[
        int, Meta(ge=1, le=1 << 20, description="MiB of memory beyond what Python and torch take themselves.")
    ] = 256
    total_seconds: Annotated[
        Seconds, Meta(description="Seconds of one whole submission; keep it a minute below the platform's limit.")
    ] = 540.0


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file that students complete: `<name>.py`, checked by `checks/test_<name>.py`.

    `functions` are the names that students write, classes and data included; those in `bonus` carry no points and may
    be methods (`MultiHeadAttention.step`). `forbids` names what may not be used (`worker.forbidden`).
    """

    name: Annotated[
        str,
        Meta(
            pattern=f"^{_NAME}$",
            description="The part's module: students complete <name>.py. It must not be that of another module.",
            extra_json_schema=_NO_KEYWORD,
        ),
    ]
    number: Annotated[int, Meta(ge=0, description="Parts stand in this order; each number once.")]
    title: Annotated[str, Meta(description="What students read above the part's checks.")]
    points: Annotated[
        float, Meta(ge=0, le=1e6, description="Points of the part: the weights of its checks add up to them.")
    ]
    functions: Annotated[
        tuple[FunctionName, ...],
        Meta(min_length=1, description="What students write in this file.", extra_json_schema={"uniqueItems": True}),
    ]
    bonus: Annotated[
        tuple[FunctionName, ...],
        Meta(description="What they may write for no points.", extra_json_schema={"uniqueItems": True}),
    ] = ()
    forbids: Annotated[
        tuple[Annotated[str, Meta(pattern=RULE)], ...],
        Meta(
            description="What the part's functions may not use: library attention, custom operators, a function or "
            "class by its whole name (torch.softmax), a module (import scipy; import torch.nn except torch.nn.Module)."
        ),
    ] = ()

    @property
    def file(self) -> str:
        """The name of the file that students hand in."""
        return f"{self.name}.py"

    @property
    def definitions(self) -> tuple[str, ...]:
        """The top-level names that the part's file binds, in the manifest's order."""
        return tuple(dict.fromkeys(name.partition(".")[0] for name in (*self.functions, *self.bonus)))


class Late(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What late work costs; without this table, nothing. How it is counted stands in `late`.

    Extra time for single students does not stand in the manifest, which students get, but in
    `checks/hidden/accommodations.toml`.
    """

    penalty_percent: Annotated[Percent, Meta(description="Taken off for each day, or hour, that has begun.")]
    per: Annotated[Literal["hour", "day"], Meta(description="What is counted.")] = "day"
    of: Annotated[
        Literal["points", "maximum"], Meta(description="Percent of the points earned, or of the assignment's maximum.")
    ] = "points"
    floor_percent: Annotated[Percent, Meta(description="So much of the points earned remains, however late.")] = 0.0
    grace_minutes: Annotated[
        float, Meta(ge=0, le=7 * 24 * 60, description="So long after the due date nothing is taken off.")
    ] = 0.0
    timezone: Annotated[
        str,
        Meta(description="Whose clock counts days, as in 'America/Los_Angeles'. Without it a day has 24 hours."),
    ] = ""
    due: (
        Annotated[
            datetime,
            Meta(
                description="When it is due, where the platform does not say: 2026-11-20T23:59:00-08:00, or without "
                "an offset by the clock of `timezone`.",
                extra_json_schema={"format": TOML_DATE_TIME, "pattern": _DATE_TIME},
            ),
        ]
        | None
    ) = None

    @property
    def zone(self) -> ZoneInfo | None:
        """The time zone; None where none is named."""
        return ZoneInfo(self.timezone) if self.timezone else None


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of `assignment.toml` as it stands."""

    title: Annotated[str, Meta(description="What the assignment is called.")]
    key: Annotated[
        str, Meta(min_length=1, description="Any text: it seeds the draws of the visible checks. Students may see it.")
    ]
    part: Annotated[tuple[Part, ...], Meta(min_length=1, description="One [[part]] table for each file.")]
    libraries: Annotated[
        tuple[
            Annotated[
                str,
                Meta(
                    pattern=rf"^{_NAME}(\.{_NAME})*$", description="As it is imported: sklearn, and not scikit-learn."
                ),
            ],
            ...,
        ],
        Meta(description="What submissions import beside torch and numpy: it is imported once, before any of them."),
    ] = ()
    limits: Annotated[Limits, Meta(description="What a submission may use.")] = Limits()
    hand_in: Annotated[
        tuple[Annotated[str, Meta(pattern=r"^[^/\\]+$")], ...],
        Meta(description="What is handed in beside the parts' files: names, or patterns such as order_*.safetensors."),
    ] = ()
    accept: Annotated[
        tuple[Annotated[str, Meta(pattern=r"^[^/\\]+$")], ...],
        Meta(
            description="Data files of other kinds that are kept from a hand-in, by pattern: *.npz, *.csv. Kept anyway "
            "are .py, .json, .txt and .safetensors, and what hand_in names."
        ),
    ] = ()
    python: Annotated[
        str, Meta(pattern=r"^3\.1[0-3]$", description="The Python that grades: softmark submit warns of newer syntax.")
    ] = "3.10"
    hidden_until_due: Annotated[
        Literal["nothing", "counts", "causes"],
        Meta(
            description="What students are told of hidden checks on Gradescope until the due date: nothing, how many "
            "of each part fail, or the property and cause of each that fails."
        ),
    ] = "nothing"
    earned_by_nothing: Annotated[
        dict[str, Annotated[str, Meta(min_length=1)]],
        Meta(description="Checks that validate's trivial answers may pass, by number, each with the reason."),
    ] = {}
    extra_credit_cap: Annotated[
        float,
        Meta(
            ge=0,
            le=1e6,
            description="How far extra credit (@pytest.mark.extra_credit) may go above the maximum; with 0 it makes up "
            "for points lost elsewhere, and no more.",
        ),
    ] = 0.0
    late: Annotated[Late, Meta(description="What late work costs; without this table, nothing.")] | None = None


def schema_of_manifest() -> dict[str, Any]:
    """The JSON Schema of `assignment.toml`, as msgspec makes it from the types."""
    return msgspec.json.schema(Manifest)


def read_manifest(path: Path) -> Manifest:
    """Read an `assignment.toml`.

    Raises:
        SoftmarkError: (exit code 2) naming the file, the key, its value and the remedy. FileNotFoundError passes.
    """
    table = read_toml(path)
    manifest = _convert(table, path)
    _refuse_doubles(manifest.part, path)
    for part in manifest.part:
        _refuse_names(part, path)
    if manifest.late is not None:
        _refuse_times(manifest.late, path)
    return manifest


def _convert(table: dict[str, Any], path: Path) -> Manifest:
    """TOML tables -> `Manifest`; an unknown key is named together with the nearest known one."""
    _refuse_unknown_keys(table, Manifest, "", path)
    _refuse_unknown_keys(table.get("limits"), Limits, "limits.", path)
    _refuse_unknown_keys(table.get("late"), Late, "late.", path)
    parts = table.get("part")
    if isinstance(parts, list):
        for index, part in enumerate(cast("list[object]", parts), start=1):
            _refuse_unknown_keys(part, Part, f"part {index}, ", path)
    elif isinstance(parts, dict):
        raise SoftmarkError(
            f"{path}: [part] is a single table; write [[part]], with double brackets, before each part."
        )
    try:
        return msgspec.convert(table, Manifest, strict=True)
    except msgspec.ValidationError as error:
        raise SoftmarkError(f"{path}: {_sentence(str(error), table)}.") from error


def _refuse_unknown_keys(table: object, struct: type[msgspec.Struct], where: str, path: Path) -> None:
    if not isinstance(table, dict):
        return
    for key in map(str, cast("dict[object, object]", table)):
        if key not in struct.__struct_fields__:
            near = nearest(key, struct.__struct_fields__)
            raise SoftmarkError(f"{path} has an unknown key: {where}{key!r}{near}")


def _sentence(message: str, table: dict[str, Any]) -> str:
    """msgspec's message as key, value and remedy; the remedy is the schema in words."""
    reason, _, place = message.partition(" - at `$")
    if place.startswith(".earned_by_nothing[...]"):  # msgspec names no key of a table whose keys are free
        reasons = cast("dict[str, object]", table["earned_by_nothing"])
        wrong = next(key for key, why in reasons.items() if not (isinstance(why, str) and why))
        wanted = expectation(node_at(schema_of_manifest(), ["earned_by_nothing", wrong]))
        return f"earned_by_nothing, {wrong!r} is {_shown(reasons[wrong])}; it must be {wanted}, the reason"
    steps = [step.strip("[]") for step in place.rstrip("`").replace("[", ".[").strip(".").split(".") if step]
    if "missing required field" in reason:
        name = reason.split("`")[1]
        wanted = expectation(node_at(schema_of_manifest(), [*steps, name]))
        return f"{_place(steps) or 'the file'} lacks {name!r}; it must be {wanted}"
    value: Any = table
    for step in steps:
        value = value[int(step)] if step.isdigit() else value.get(step)
    wanted = expectation(node_at(schema_of_manifest(), steps))
    return f"{_place(steps)} is {_shown(value)}; it must be {wanted}"


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "a table"
    text = repr(value) if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _place(steps: Iterable[str]) -> str:
    """The way to a value as a person reads it: `part 2, points`, `limits.cpu_seconds`."""
    words: list[str] = []
    for step in steps:
        if step.isdigit() and words:
            words[-1] += f" {int(step) + 1}"
        else:
            words.append(step)
    return (", " if words[:1] and words[0].startswith("part") else ".").join(words)


def _refuse_doubles(parts: Iterable[Part], path: Path) -> None:
    for what in ("name", "number"):
        twice = [value for value, times in Counter(getattr(part, what) for part in parts).items() if times > 1]
        if twice:
            raise SoftmarkError(f"{path} has two parts with the {what} {twice[0]}: give one of them another.")


def _refuse_names(part: Part, path: Path) -> None:
    """What a pattern cannot say."""
    if part.name in TAKEN_NAMES or not _is_name(part.name):
        raise SoftmarkError(
            f"{path}: a part cannot be called {part.name!r}; the name must be that of a module of its own."
        )
    names = (*part.functions, *part.bonus)
    for name in names:
        if not all(map(_is_name, name.split("."))):
            raise SoftmarkError(f"{path}: part {part.name}: {name!r} is not the name of a function.")
        if names.count(name) > 1:
            raise SoftmarkError(f"{path}: part {part.name} names {name!r} twice: remove one.")


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def _refuse_times(late: Late, path: Path) -> None:
    try:
        zone = late.zone
    except (OSError, ValueError, LookupError):  # ZoneInfo raises each of them for names of some kind
        raise SoftmarkError(
            f"{path}: late.timezone is {late.timezone!r}, which is not a known time zone; write one such as "
            f"'Europe/Berlin' or 'America/Los_Angeles'."
        ) from None
    if late.due is not None and late.due.tzinfo is None and zone is None:
        raise SoftmarkError(
            f"{path}: late.due is {late.due.isoformat()}, which needs a time zone; write its offset, as "
            f"in {late.due.isoformat()}-08:00, or set late.timezone."
        )


def nearest(word: str, known: Iterable[str]) -> str:
    """What an unknown word may have been meant to be: the end of a sentence, with its mark."""
    known = sorted(known)
    near = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(known)}."
