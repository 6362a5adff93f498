"""The reference solutions as modules of the grader, and as a transport that can stand in the student's place.

Only ever loaded in a grader, never in the fork server or a worker. It loads what the course wrote and nothing else.
"""

from __future__ import annotations

from types import ModuleType

from autograder.assignment import Assignment
from autograder.worker.executor import Executor
from autograder.worker.loader import Loader
from autograder.worker.messages import Reply, Request


class Reference:
    """The reference solution of every part of an assignment."""

    def __init__(self, assignment: Assignment) -> None:
        names = [part.name for part in assignment.parts if (assignment.solutions / part.file).is_file()]
        loader = Loader(assignment.solutions, names)
        self.modules: dict[str, ModuleType] = {name: loader.load(name) for name in names}
        self.executor = InPlace(Executor(loader))


class InPlace:
    """Carries requests out in this process. A `Load` is answered at once: the parts are there."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def request(self, message: Request) -> Reply:
        return self._executor.carry_out(message)
