"""The zip that Gradescope builds an autograder from: the same bytes for the same files.

It holds the grader as a wheel, one assignment with its solutions and the list of what to install. Mistakes and variants
stay behind: nothing of them is needed for grading, but for what the mistake bank keeps. What the zip does once it is
unpacked stands in `runtime/`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path

import msgspec

from autograder.assignment.assignment import Assignment
from autograder.assignment.leftovers import meant_files
from autograder.authoring.bundle.wheel import wheel
from autograder.errors import SoftmarkError
from autograder.gradescope.deadline import grading_seconds
from autograder.gradescope.layout import COURSE, SETTINGS, Settings
from autograder.gradescope.visibility import note_on_leaderboards, note_on_totals
from autograder.grading.checks import Check, refuse_wrong_points
from autograder.grading.known_mistakes import FILE as BANK
from autograder.grading.known_mistakes import is_stale, made_from
from autograder.grading.record import assignment_digest

RUNTIME = Path(__file__).parent / "runtime"
SCRIPTS = ("run_autograder", "setup.sh")
_LISTS = ("requirements.txt", "torch.txt")
_FOR_VALIDATION = ("mistakes", "variants")


@dataclass
class Contents:
    """The files of the zip by path, and what to tell the instructor."""

    files: dict[str, bytes] = field(default_factory=dict[str, bytes])
    notes: list[str] = field(default_factory=list[str])


def contents_of(assignment: Assignment, seconds: float = 600.0, allow_missing: list[str] | None = None) -> Contents:
    """Everything that goes into the zip.

    Raises `SoftmarkError` where the assignment does not load: every check is collected and every reference imported.
    """
    checks = _loaded(assignment)
    contents = Contents()
    for name in SCRIPTS:
        text = (RUNTIME / name).read_text(encoding="utf-8").replace("@TIME_LIMIT@", f"{seconds:g}")
        contents.files[name] = text.replace("\r\n", "\n").encode()
    for name in _LISTS:
        contents.files[name] = (RUNTIME / name).read_bytes().replace(b"\r\n", b"\n")
    contents.files["requirements.txt"] += _libraries(assignment, contents.files["requirements.txt"].decode())
    name, data = wheel()
    contents.files[name] = data
    _add_course(contents, assignment)
    settings = Settings(
        assignment=assignment.name,
        digest=assignment_digest(assignment),
        softmark=version("softmark"),
        allow_missing=tuple(sorted(allow_missing or [])),
    )
    contents.files[SETTINGS] = msgspec.json.format(msgspec.json.encode(settings), indent=1) + b"\n"
    contents.notes += filter(
        None, [note_on_totals(checks), note_on_leaderboards(checks), _note_on_time(assignment, seconds)]
    )
    return contents


# ------------------------------------------------------------------ what goes in


def _loaded(assignment: Assignment) -> tuple[Check, ...]:
    """The checks, collected as for grading. Raises `SoftmarkError` where they or a reference cannot be loaded."""
    from autograder.grading.plugin import Checks
    from autograder.grading.pytest_session import with_checks
    from autograder.grading.reference import Reference

    for part in assignment.parts:
        assignment.reference(part)
    if any(path.parent == assignment.hidden for path in assignment.check_files()):
        assignment.hidden_key()
    reference = Reference(assignment)
    checks = Checks(assignment, reference)
    with_checks(checks, lambda: refuse_wrong_points(checks.checks, assignment))
    return checks.checks


def _add_course(contents: Contents, assignment: Assignment) -> None:
    stale = is_stale(assignment)
    left_out = {assignment.solutions / name for name in _FOR_VALIDATION}
    for kind, folder in (("assignments", assignment.folder), ("solutions", assignment.solutions)):
        for path in meant_files(folder):
            if left_out.isdisjoint(path.parents) and not (stale and path.name == BANK):
                relative = path.relative_to(folder).as_posix()
                contents.files[f"{COURSE}/{kind}/{assignment.name}/{relative}"] = path.read_bytes()
    if stale:
        contents.notes.append(
            f"{BANK} is older than the checks or solutions and was left out, so that no known mistake will be named: "
            f"softmark validate {assignment.folder} makes a new one."
        )
    _restamp(contents, assignment)


def _restamp(contents: Contents, assignment: Assignment) -> None:
    """The bank says what it was made from. Here it lies with fewer files, and is as current as it was with all."""
    name = f"{COURSE}/solutions/{assignment.name}/{BANK}"
    if name in contents.files:
        bank: dict[str, object] = msgspec.msgpack.decode(contents.files[name], type=dict[str, object])
        bank["made_from"] = made_from(assignment, without=_FOR_VALIDATION)
        contents.files[name] = msgspec.msgpack.encode(bank, order="deterministic")


def _libraries(assignment: Assignment, listed: str) -> bytes:
    """Lines for the libraries that students may use and that are not listed: in the version that is installed here."""
    known = {line.partition("==")[0].strip().lower().replace("_", "-") for line in listed.splitlines()}
    lines: list[str] = []
    for library in assignment.libraries:
        names = packages_distributions().get(library, [library])
        if any(name.lower().replace("_", "-") in {*known, "torch"} for name in names):
            continue
        try:
            lines.append(f"{names[0]}=={version(names[0])}\n")
        except PackageNotFoundError:
            raise SoftmarkError(
                f"{assignment.name} lets students use {library}, which is not installed here: install it, so that it "
                "is known which version to take along."
            ) from None
    return "".join(["# What students may use\n", *sorted(lines)] if lines else []).encode()


# ------------------------------------------------------------------ what to say


def _note_on_time(assignment: Assignment, seconds: float) -> str:
    total, left = assignment.limits.total_seconds, grading_seconds(seconds)
    if total <= left:
        return ""
    return (
        f"limits.total_seconds is {total:g}, but of the {seconds:g} s that Gradescope allows at most {left:g} are left "
        "for grading: what runs longer ends there. Set a longer limit in Configure Autograder, and say --time-limit."
    )
