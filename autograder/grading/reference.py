"""The reference solutions as modules of the grader, and as a transport that can stand in the student's place.

Only ever loaded in a grader, never in the fork server or a worker. It loads what the course wrote and nothing else.
"""

from __future__ import annotations

import traceback
from pathlib import Path
from types import ModuleType

from autograder.assignment.assignment import Assignment
from autograder.errors import SoftmarkError
from autograder.sandbox.in_process import InProcessWorker


class Reference:
    """The reference solution of every part of an assignment.

    Raises `SoftmarkError` where one cannot be imported, with its line and error.
    """

    def __init__(self, assignment: Assignment) -> None:
        names = [part.name for part in assignment.parts if (assignment.solutions / part.file).is_file()]
        self.worker = InProcessWorker(assignment.solutions, names)
        self.modules: dict[str, ModuleType] = {}
        for name in names:
            try:
                self.modules[name] = self.worker.loader.load(name)
            except Exception as error:
                raise SoftmarkError(
                    f"{_place(error, assignment.solutions / f'{name}.py')}: the reference cannot be imported "
                    f"({type(error).__name__}: {error}), so nothing can be graded: mend it."
                ) from error


def _place(error: Exception, file: Path) -> str:
    """Where in the reference it happened: the file, and the line where that is known."""
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return f"{file}, line {error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    return f"{file}, line {lines[-1]}" if lines else str(file)
