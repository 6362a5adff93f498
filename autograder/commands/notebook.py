"""The visible checks in a notebook, on the functions as they stand there: `%check 2.3`.

1. The cells that have run, in the order in which they did, become modules as a handed-in notebook's do.
2. Each is put below the part's file, so what a cell defines holds and the rest comes from the file.
3. Another process checks these files like `softmark check`, so nothing that hangs or crashes takes the kernel along.
"""

from __future__ import annotations

import html
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from autograder.assignment.assignment import Assignment
from autograder.errors import SoftmarkError
from autograder.intake.assembly import Surroundings, module_of, read_codes
from autograder.intake.cells import Cell, Notebook
from autograder.intake.matching import importable
from autograder.report.lines import labelled
from autograder.report.table import points_text
from autograder.report.view import check_view, together
from autograder.results import CheckResult, Grade
from autograder.run.home import home_of
from autograder.text import one_line

_NAME = "this notebook"
_BOX = (
    "border: 1px solid #8888; border-left: 4px solid #c0392b; border-radius: 4px; padding: 0.5em 0.8em; margin: 0.5em 0"
)
_LEFT = "text-align: left; vertical-align: top; padding: 0.1em 0.9em 0.1em 0; white-space: pre-wrap"


class Answer(msgspec.Struct, frozen=True):
    """What the other process found."""

    grade: Grade
    standing: str
    pictures: dict[str, str]


class Checked:
    """What was found, as a table in a notebook and as text anywhere else."""

    def __init__(self, answer: Answer, text: str) -> None:
        self.grade, self._answer, self._text = answer.grade, answer, text

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        checks, said = self.grade.checks, set[str]()
        rows, boxes = list[str](), list[str]()
        for check in checks:
            word = "not there" if check.outcome == "missing" else check.outcome.replace("_", " ")
            points = f"{points_text(check.score)} of {points_text(check.weight)}" if check.weight else "bonus"
            cells = (check.number, "✓ passed" if word == "passed" else f"✗ {word}", points, check.title)
            rows.append("".join(f'<td style="{_LEFT}">{html.escape(one_line(cell))}</td>' for cell in cells))
            common = together(check)
            if check.outcome != "passed" and (common is None or common.sentence not in said):
                said.add(common.sentence if common else "")
                boxes.append(_box(check, self._answer.pictures.get(check.number, "")))
        head = "".join(f'<th style="{_LEFT}">{name}</th>' for name in ("check", "", "points", "property"))
        table = "".join(f"<tr>{row}</tr>" for row in rows)
        return (
            f"<div><table><thead><tr>{head}</tr></thead><tbody>{table}</tbody></table>{''.join(boxes)}"
            f"<p>{html.escape(self._answer.standing)}</p></div>"
        )


def _box(check: CheckResult, picture: str) -> str:
    """What is said of a check that fails."""
    common, told = together(check), check_view(check).told
    if common is not None:
        lines = [("", f"{common.sentence} {common.hint or common.meaning}".strip()), ("", common.frames)]
    else:
        lines = labelled(told) if told is not None else []
    rows = "".join(
        f'<tr><td style="{_LEFT}">{label}</td><td style="{_LEFT}">{html.escape(text)}</td></tr>'
        for label, text in lines
        if text
    )
    return f'<div style="{_BOX}"><b>{html.escape(check.number)}</b><table>{rows}</table>{picture}</div>'


def load_ipython_extension(shell: Any) -> None:
    """What `%load_ext softmark` does: the magic `%check`, and the function `check`."""

    def magic(line: str) -> Checked | None:
        return check(*line.split())

    shell.register_magic_function(magic, "line", "check")
    shell.push({"check": check})


def check(*only: str) -> Checked | None:
    """Check the functions as they stand in this notebook; what is wrong with the call is printed.

    Args:
        only: checks (2.3a), exercises (2.3) or parts (attention); all visible checks by default.
    """
    from IPython import (
        get_ipython,  # pyright: ignore[reportMissingModuleSource, reportMissingImports, reportUnknownVariableType]
    )

    shell: Any = get_ipython()
    history: Sequence[str] = shell.history_manager.input_hist_raw if shell is not None else ()
    try:
        return check_cells(dict(enumerate(history)), Path.cwd(), only)
    except SoftmarkError as error:
        print(f"softmark: {error}")
        return None


def check_cells(cells: Mapping[int, str], folder: Path, only: Sequence[str] = ()) -> Checked:
    """Check what these cells, by number, define on top of the files in `folder`.

    Raises:
        SoftmarkError: the folder belongs to no assignment, or there is no such check.
    """
    assignment = home_of(folder).assignment
    with tempfile.TemporaryDirectory(prefix="softmark-") as top:
        place = Path(top)
        place.chmod(0o755)
        for name, source in _files(cells, folder, assignment).items():
            (place / name).write_text(source, encoding="utf-8")
        for pattern in assignment.hand_in:
            for path in folder.glob(pattern):
                (place / path.name).write_bytes(path.read_bytes())
        answer = place / "answer"
        command = [sys.executable, "-m", "autograder.commands.notebook", str(folder), top, str(answer), *only]
        plain = {**os.environ, "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
        plain.pop("FORCE_COLOR", None)  # kernels set it
        done = subprocess.run(command, cwd=folder, env=plain, capture_output=True, text=True, encoding="utf-8")
        if not answer.is_file():
            raise SoftmarkError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "nothing was checked")
        return Checked(msgspec.json.decode(answer.read_bytes(), type=Answer), done.stdout)


def _files(cells: Mapping[int, str], folder: Path, assignment: Assignment) -> dict[str, str]:
    """The Python files of a folder, with what the cells define of a part below that part's file."""
    files = {path.name: path.read_text("utf-8", "replace") for path in folder.glob("*.py")}
    notebook = Notebook(tuple(Cell(number, "code", source) for number, source in cells.items()), ())
    code = read_codes({_NAME: notebook})[_NAME]
    parts = [part for part in assignment.parts if not code.defined.isdisjoint(part.definitions)]
    libraries = importable(assignment) | {Path(name).stem for name in files}
    for part in parts:
        made = module_of(code, part, Surroundings(libraries, frozenset(each.name for each in parts))).source
        head, _, body = made.partition("\n")
        future = [line for line in body.splitlines() if line.startswith("from __future__")]
        rest = "\n".join(line for line in body.splitlines() if line not in future)
        files[part.file] = "\n".join([*future, files.get(part.file, ""), head, rest])
    return files


def main(arguments: Sequence[str]) -> int:
    """The other process. Arguments: a folder, one with the files to check, where the answer goes, and checks."""
    folder, files, out, *only = arguments
    from autograder.commands.check import Wish, check_home

    try:
        found = check_home(replace(home_of(Path(folder)), folder=Path(files)), Wish(only=only))
    except SoftmarkError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    Path(out).write_bytes(msgspec.json.encode(Answer(found.grade, found.standing, found.pictures)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
