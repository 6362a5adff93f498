"""The reference solutions: what checks ask as `reference`, and what can stand in the student's place.

Only ever loaded in a grader, never in the fork server or a worker. Checks reach it by the same messages as `student`,
so that its answers can be recorded (`recording`) and given again where there is no reference.
"""

from __future__ import annotations

import traceback
from pathlib import Path
from types import ModuleType
from typing import NoReturn, Protocol

from autograder.assignment.assignment import Assignment
from autograder.errors import SoftmarkError
from autograder.grading.line import Line, Scale, Transport
from autograder.sandbox.in_process import InProcessWorker, in_folder
from autograder.student_error import StudentError
from autograder.worker.protocol.messages import Reply, Request


class Oracle(Protocol):
    """What answers when a check asks `reference`: the reference solution, or a recording of its answers."""

    def classes(self, part: str) -> frozenset[str] | None:
        """The names of a part that are classes; None where nobody knows the part."""
        ...

    def open(self, item: str) -> Transport:
        """A transport for one item of a check, such as "attention.test_softmax_is_the_formula"."""
        ...


class ReferenceFailed(Exception):
    """The reference raised, or gave what nobody can read. Whose fault that is depends on what it was asked."""


class ReferenceLine(Line):
    """The line of `reference`: what goes wrong on it is no error of the student's."""

    def _send(self, message: Request, name: str = "", scale: Scale | None = None) -> Reply:
        try:
            return super()._send(message, name, scale)
        except StudentError as error:
            self._fail(error)

    def _fail(self, error: StudentError) -> NoReturn:
        raise ReferenceFailed(f"the reference failed: {error}") from None


class Reference:
    """The reference solution of every part of an assignment.

    Raises `SoftmarkError` where one cannot be imported, with its line and error.
    """

    def __init__(self, assignment: Assignment) -> None:
        names = [part.name for part in assignment.parts if (assignment.solutions / part.file).is_file()]
        self._folder, self._names = assignment.solutions, names
        self._at = None if assignment.given is None else assignment.given.parent
        self.worker = InProcessWorker(assignment.solutions, names, at=self._at)
        self.modules: dict[str, ModuleType] = {}
        for name in names:
            try:
                with in_folder(self._at):
                    self.modules[name] = self.worker.loader.load(name)
            except Exception as error:
                raise SoftmarkError(
                    f"{_place(error, assignment.solutions / f'{name}.py')}: the reference cannot be imported "
                    f"({type(error).__name__}: {error}), so nothing can be graded: mend it."
                ) from error
        for part in assignment.parts:
            for name in part.definitions if part.name in self.modules else ():
                if not hasattr(self.modules[part.name], name):
                    raise SoftmarkError(
                        f"{assignment.solutions / part.file} has no {name}, which the manifest names: nothing can be "
                        "graded without it. Define it there, or take it out of the manifest."
                    )

    def classes(self, part: str) -> frozenset[str] | None:
        """The names of a part that are classes; None where it has no reference."""
        module = self.modules.get(part)
        return None if module is None else frozenset(n for n, each in vars(module).items() if isinstance(each, type))

    def open(self, item: str) -> Transport:
        """A transport with no objects of an earlier item's."""
        return InProcessWorker(self._folder, self._names, self.worker.loader, self._at)


def _place(error: Exception, file: Path) -> str:
    """Where in the reference it happened: the file, and the line where that is known."""
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return f"{file}, line {error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
    return f"{file}, line {lines[-1]}" if lines else str(file)
