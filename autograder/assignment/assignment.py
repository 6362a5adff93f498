"""An assignment: what its manifest says, and where its files stand: checks, solutions, starter code.

What a manifest may hold is `manifest`'s business. It does not read a check or a solution, and so does not know whether
the weights of the checks add up to the points of a part (the plugin does).
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

import msgspec

from autograder.assignment.leftovers import is_leftover
from autograder.assignment.manifest import Late, Limits, Part, nearest, read_manifest
from autograder.errors import SoftmarkError

__all__ = ["MANIFEST", "Assignment", "Limits", "Part", "load_assignment"]

MANIFEST = "assignment.toml"
GIVEN = "given"
"""The folder of what students get as it is."""


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """One assignment: its manifest, and where its files stand.

    `key` seeds the draws of the visible checks. `folder` is absolute.
    """

    name: str
    title: str
    folder: Path
    key: bytes
    parts: tuple[Part, ...]
    limits: Limits
    libraries: tuple[str, ...] = ()
    hand_in: tuple[str, ...] = ()
    accept: tuple[str, ...] = ()
    python: str = "3.10"
    hidden_until_due: Literal["nothing", "counts", "causes"] = "nothing"
    earned_by_nothing: dict[str, str] = {}
    extra_credit_cap: float = 0.0
    late: Late | None = None

    @property
    def maximum(self) -> float:
        """The points that the manifest declares, whatever runs."""
        return math.fsum(part.points for part in self.parts)

    @property
    def solutions(self) -> Path:
        """The folder of the reference solutions, mistakes and variants. It need not exist (a student's machine)."""
        return self.folder.parent.parent / "solutions" / self.name

    @property
    def starter(self) -> Path:
        """The folder of the generated starter code."""
        return self.folder.parent.parent / "starter_code" / self.name

    @property
    def hidden(self) -> Path:
        """The folder of the hidden checks. It need not exist."""
        return self.folder / "checks" / "hidden"

    @property
    def support(self) -> Path:
        """The folder of what the checks share; `hidden / "support"` is that of the hidden ones. It need not exist."""
        return self.folder / "checks" / "support"

    @property
    def given(self) -> Path | None:
        """The folder of what students get as it is, there also when their work is graded; None where there is none.

        In a student's bundle it lies beside the parts.
        """
        places = [self.folder / GIVEN]
        if self.folder.parent.name == "course":
            places.append(self.folder.parent.parent / GIVEN)
        return next((place for place in places if place.is_dir()), None)

    def given_files(self) -> dict[str, bytes]:
        """The files of that folder by their paths, which begin with `given/`; what programs left behind apart."""
        top = self.given
        if top is None:
            return {}
        meant = [path for path in sorted(top.rglob("*")) if path.is_file() and not is_leftover(path.relative_to(top))]
        return {f"{GIVEN}/{path.relative_to(top).as_posix()}": path.read_bytes() for path in meant}

    def support_files(self) -> tuple[Path, ...]:
        """The modules that checks import from the two support folders, the visible ones first."""
        return tuple(path for root in (self.support, self.hidden / "support") for path in sorted(root.rglob("*.py")))

    def part(self, name: str) -> Part:
        """The part of that name. Raises `SoftmarkError` naming the parts there are."""
        for part in self.parts:
            if part.name == name:
                return part
        names = ", ".join(part.name for part in self.parts)
        raise SoftmarkError(f"{self.name} has no part {name!r}: its parts are {names}.")

    def reference(self, part: Part) -> Path:
        """The file of the part's reference solution. Raises `SoftmarkError` where there is none."""
        path = self.solutions / part.file
        if not path.is_file():
            raise SoftmarkError(f"{path} is missing: part {part.number} of {self.name} needs its reference solution.")
        return path

    def check_files(self) -> tuple[Path, ...]:
        """Every check file, in the order of the parts, the visible one first. Raises where one belongs to no part."""
        known = {f"test_{part.name}.py" for part in self.parts}
        for folder in (self.folder / "checks", self.hidden):
            for path in sorted(folder.glob("test_*.py")):
                if path.name not in known:
                    near = nearest(path.name, known)
                    raise SoftmarkError(f"{path} belongs to no part of {self.folder / MANIFEST}{near}")
        candidates = [
            folder / f"test_{part.name}.py" for part in self.parts for folder in (self.hidden.parent, self.hidden)
        ]
        found = tuple(path for path in candidates if path.is_file())
        if not found:
            raise SoftmarkError(f"{self.folder / 'checks'} holds no check file; expected {candidates[0].name}.")
        return found

    def hidden_key(self) -> bytes:
        """The key that seeds the draws of the hidden checks: `checks/hidden/key`, without surrounding white space."""
        path = self.hidden / "key"
        try:
            key = path.read_bytes().strip()
        except OSError as error:
            raise SoftmarkError(
                f"{path} could not be read ({error.strerror}): hidden checks need a key of their own. "
                f"Write a line of random text into it."
            ) from error
        if not key:
            raise SoftmarkError(f"{path} is empty: write a line of random text into it.")
        return key


def load_assignment(folder: Path | str) -> Assignment:
    """Read an assignment's manifest.

    Raises:
        SoftmarkError: (exit code 2) naming the file, what is wrong in it and the remedy.
    """
    folder = Path(folder).resolve()
    path = folder / MANIFEST
    if not folder.is_dir():
        raise SoftmarkError(f"There is no assignment folder {folder}{_nearby_assignments(folder)}")
    try:
        manifest = read_manifest(path)
    except FileNotFoundError:
        raise SoftmarkError(f"{folder} is not an assignment: it has no {MANIFEST}.") from None
    return Assignment(
        name=folder.name,
        title=manifest.title,
        folder=folder,
        key=manifest.key.encode(),
        parts=tuple(sorted(manifest.part, key=lambda part: part.number)),
        limits=manifest.limits,
        libraries=manifest.libraries,
        hand_in=manifest.hand_in,
        accept=manifest.accept,
        python=manifest.python,
        hidden_until_due=manifest.hidden_until_due,
        earned_by_nothing=manifest.earned_by_nothing,
        extra_credit_cap=manifest.extra_credit_cap,
        late=manifest.late,
    )


def _nearby_assignments(folder: Path) -> str:
    if not folder.parent.is_dir():
        return "."
    if (folder.parent / "assignments" / folder.name / MANIFEST).is_file():
        return f"; did you mean {f'assignments/{folder.name}'!r}?"
    there = {path.parent.name for path in folder.parent.glob(f"*/{MANIFEST}")}
    return nearest(folder.name, there) if there else "."
