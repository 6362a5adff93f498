"""The reference solutions as modules of the grader, and as a transport that can stand in the student's place.

Only ever loaded in a grader, never in the fork server or a worker. It loads what the course wrote and nothing else.
"""

from __future__ import annotations

from types import ModuleType

from autograder.assignment import Assignment
from autograder.sandbox.in_process import InProcessWorker


class Reference:
    """The reference solution of every part of an assignment."""

    def __init__(self, assignment: Assignment) -> None:
        names = [part.name for part in assignment.parts if (assignment.solutions / part.file).is_file()]
        self.worker = InProcessWorker(assignment.solutions, names)
        self.modules: dict[str, ModuleType] = {name: self.worker.loader.load(name) for name in names}
