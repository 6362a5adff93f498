"""What is in the bundle: the starter code, the handout as text and as a page, and the folder `course`.

08_transformers/
  attention.py ...  notebook.ipynb  given/  figures/       the starter code
  README.md  guide.md  AGENTS.md  set_up.py  constraints.txt    how to begin and go on, for students and assistants
  handout.md  handout.html  hints.md  hints.html
  course/softmark-<version>-py3-none-any.whl
  course/08_transformers/assignment.toml  checks/          the visible checks and what they share
  course/08_transformers/answers.msgpack                   what the reference answers to them
  course/08_transformers/causes.msgpack                    what known mistakes give there
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path

from autograder.assignment.assignment import MANIFEST, Assignment
from autograder.assignment.leftovers import is_leftover
from autograder.authoring.bundle.page import handout_page
from autograder.authoring.bundle.wheel import wheel
from autograder.authoring.starter_code import make_starter
from autograder.errors import SoftmarkError
from autograder.grading.checks import Check
from autograder.grading.recording import ANSWERS, CAUSES

_HERE = Path(__file__).parent
SET_UP = _HERE / "set_up.py"
"""The script that sets Softmark up for students, and in a course's own repository."""
_HINTS = "hints.md"
_TEXTS = ("README.md", "guide.md", "AGENTS.md")


def bundled(assignment: Assignment, checks: tuple[Check, ...], answers: bytes, causes: bytes) -> dict[str, bytes]:
    """Every file of the bundle, by its path in the zip.

    Args:
        assignment: what is released.
        checks: its visible checks.
        answers: what `grading.recording` recorded.
        causes: the bank of known mistakes for the student's machine.
    """
    files = make_starter(assignment)
    if "README.md" in files:
        files["handout.md"] = files.pop("README.md")
        files["handout.html"] = handout_page(files["handout.md"].decode(), files).encode()
    if (hints := assignment.folder / _HINTS).is_file():
        files[_HINTS] = hints.read_bytes()
        files["hints.html"] = handout_page(files[_HINTS].decode(), files).encode()
    files.update({name: _filled_in(name, assignment, checks).encode() for name in _TEXTS})
    files[SET_UP.name] = SET_UP.read_bytes()
    files["constraints.txt"] = f"torch=={_installed('torch').partition('+')[0]}\n".encode()
    name, data = wheel()
    files[f"course/{name}"] = data
    files["course/libraries.txt"] = "".join(f"{each}\n" for each in sorted(_libraries(assignment))).encode()
    course = {MANIFEST: (assignment.folder / MANIFEST).read_bytes(), ANSWERS: answers, CAUSES: causes}
    files.update({f"course/{assignment.name}/{name}": data for name, data in {**course, **_checks(assignment)}.items()})
    return {f"{assignment.name}/{name}": data for name, data in files.items()}


def _checks(assignment: Assignment) -> Mapping[str, bytes]:
    """The visible check files and their support, by their path in the assignment's folder."""
    top = assignment.folder / "checks"
    paths = [*top.glob("test_*.py"), *assignment.support.rglob("*.py")]
    meant = [path for path in paths if not is_leftover(path.relative_to(top))]
    return {path.relative_to(assignment.folder).as_posix(): path.read_bytes() for path in sorted(meant)}


def _filled_in(name: str, assignment: Assignment, checks: tuple[Check, ...]) -> str:
    """A text of this folder with the names of the assignment in it."""
    number = checks[0].number
    return (
        (_HERE / name)
        .read_text(encoding="utf-8")
        .format(
            title=assignment.title,
            name=assignment.name,
            parts=", ".join(part.file for part in assignment.parts),
            part=checks[0].part,
            number=number.rstrip("abcdefghijklmnopqrstuvwxyz"),
            check=number,
            underscored=number.replace(".", "_"),
            python=assignment.python,
            torch=_installed("torch").partition("+")[0],
        )
    )


def _libraries(assignment: Assignment) -> list[str]:
    """What students may import beside torch, in the versions that grade here."""
    names = [packages_distributions().get(library, [library])[0] for library in assignment.libraries]
    return [f"{name}=={_installed(name)}" for name in names if name != "torch"]


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        raise SoftmarkError(
            f"{name} is not installed here, so that nobody knows which version to release: install it."
        ) from None
