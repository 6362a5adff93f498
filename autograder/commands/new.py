"""`softmark new`: a small assignment to start from, which validates as it stands; with `--course` in a repository of
its own, which needs no checkout of Softmark.

One function with its reference, a visible and a hidden check, a known mistake, a variant and a handout: copied from
`template/`, whose comments teach. It grades nothing, and overwrites nothing.
"""

from __future__ import annotations

import re
import secrets
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path

from autograder.assignment.manifest import schema_of_manifest
from autograder.assignment.schema import write_schema
from autograder.authoring.bundle.contents import SET_UP
from autograder.authoring.bundle.wheel import wheel
from autograder.errors import SoftmarkError

TEMPLATE = Path(__file__).parent / "template"
COURSE = Path(__file__).parent / "template_course"
FIRST = "01_first"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")


def new_command(name: str) -> int:
    """Make the assignment where the others are (or in this folder), and say what to do next."""
    here = Path.cwd()
    home = home_of(here)
    folder = make_assignment(name, home)
    shown = folder.relative_to(here) if folder.is_relative_to(here) else folder
    print(f"{folder}: manifest, handout, checks")
    print(f"{home / 'solutions' / name}: reference, a known mistake, a variant")
    print("\nIt works as it stands. Try it, then make it yours:")
    for command in ("validate", "starter"):
        print(f"  softmark {command} {shown}")
    return 0


def new_course_command(folder: Path) -> int:
    """Make a repository for a course, with one assignment in it, and say what to do next."""
    make_course(folder)
    print(f"{folder}: Makefile, README.md, .gitignore, a workflow for GitHub, Softmark itself as a wheel")
    print(f"{folder / 'assignments' / FIRST}: an assignment that works as it stands")
    print(f"\nTry it, then make it yours:\n  cd {folder}\n  make validate")
    return 0


def make_course(folder: Path) -> None:
    """Write the repository. Raises `SoftmarkError` where something is there already."""
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise SoftmarkError(f"{folder} is there already, and nothing is overwritten: choose another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(COURSE, folder, dirs_exist_ok=True, copy_function=shutil.copyfile)
    (folder / "gitignore").rename(folder / ".gitignore")
    readme = folder / "README.md"
    readme.write_text(readme.read_text(encoding="utf-8").replace("@NAME@", folder.resolve().name), encoding="utf-8")
    name, data = wheel()
    (folder / "softmark").mkdir()
    (folder / "softmark" / name).write_bytes(data)
    own = f'EXTRAS, NEXT = "[notebook,plot,release]", "validate assignments/{FIRST}"'
    script = SET_UP.read_text(encoding="utf-8").replace('EXTRAS, NEXT = "", "check"', own)
    (folder / SET_UP.name).write_text(script.replace("for this assignment", "for this course", 1), encoding="utf-8")
    (folder / "constraints.txt").write_text(f"torch=={version('torch').partition('+')[0]}\n", encoding="utf-8")
    make_assignment(FIRST, folder)


def home_of(folder: Path) -> Path:
    """The nearest folder, from this one upwards, that holds `assignments/`; this one where there is none."""
    return next((each for each in (folder, *folder.parents) if (each / "assignments").is_dir()), folder)


def make_assignment(name: str, home: Path) -> Path:
    """Write `assignments/<name>/` and `solutions/<name>/` below `home`, and return the first.

    Raises:
        SoftmarkError: a name that no folder should have, or one that is taken.
    """
    if not _NAME.fullmatch(name):
        last = re.split(r"[\\/]", name.rstrip("\\/"))[-1]
        near = re.sub(r"[^A-Za-z0-9_-]+", "_", last).strip("_-")[:60] or "01_first"
        raise SoftmarkError(
            f"An assignment cannot be called {name!r}: use letters, digits, '_' and '-', at most 60, as in '{near}'."
        )
    folder, solutions = (home / place / name for place in ("assignments", "solutions"))
    for taken in (folder, solutions, home / "starter_code" / name):
        if taken.exists() or taken.is_symlink():
            raise SoftmarkError(f"{taken} is there already, and nothing is overwritten: choose another name.")
    for parent in (folder.parent, solutions.parent):
        parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home, prefix=".softmark-new-") as top:
        new_folder, new_solutions = _write(Path(top), name)
        new_solutions.rename(solutions)
        try:
            new_folder.rename(folder)  # last, since the manifest makes it an assignment
        except OSError:
            shutil.rmtree(solutions)
            raise
    write_schema(folder.parent, schema_of_manifest())
    return folder


def _write(top: Path, name: str) -> tuple[Path, Path]:
    """The two folders, complete. Hidden checks and solutions are their owner's alone: workers must not read them."""
    folder, solutions = top / "assignment", top / "solutions"
    left_out = shutil.ignore_patterns("solutions", "__pycache__")
    shutil.copytree(TEMPLATE, folder, ignore=left_out, copy_function=shutil.copyfile)
    shutil.copytree(TEMPLATE / "solutions", solutions, ignore=left_out, copy_function=shutil.copyfile)
    for path in (folder / "assignment.toml", folder / "handout.md"):
        text = path.read_text(encoding="utf-8").replace("@NAME@", name).replace("@KEY@", secrets.token_hex(8))
        path.write_text(text, encoding="utf-8", newline="\n")
    (folder / "checks" / "hidden" / "key").write_text(secrets.token_hex(16) + "\n", encoding="utf-8")
    for closed in (folder / "checks" / "hidden", solutions):
        for path in (closed, *closed.rglob("*")):
            path.chmod(0o700 if path.is_dir() else 0o600)
    return folder, solutions
