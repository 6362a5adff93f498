"""One class of the same submissions for five graders, each in its documented form and its own process.

A grader is prepared once with a number of submissions, all of them right; `run` grades some of them and returns when
that is done. Where a grader has no way to grade several at a time, as many processes run beside each other.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat

from benchmarks.boundary import SMALL
from benchmarks.peers import six_checks
from benchmarks.peers.environments import environment, variables

SOLUTION = SMALL.parents[1] / "solutions" / "six" / "six.py"
NAMES = [check.__name__ for check in six_checks.CHECKS]
AT_MOST = 2  # at a time


class Grader(ABC):
    """One of them, in a folder of its own."""

    name: str
    environment: str
    submissions: int

    def __init__(self, top: Path) -> None:
        self.programs = environment(self.environment)
        self.folder = top / self.name.replace(" ", "_")
        self.folder.mkdir()
        self.prepare()

    def prepare(self) -> None:
        """Write what instructor and students hand in."""
        shutil.copy(six_checks.__file__, self.folder / "six_checks.py")
        shutil.copy(SOLUTION, self.folder / "six_reference.py")

    @abstractmethod
    def run(self, at_a_time: int) -> None:
        """Grade every submission."""

    @abstractmethod
    def points(self) -> float:
        """Of the last submission, after a run: out of six, so that nothing is timed that did not grade."""

    def call(self, *command: str, folder: Path | None = None) -> None:
        """Run a program of the environment."""
        subprocess.run(
            [str(self.programs / command[0]), *command[1:]],
            cwd=folder or self.folder,
            env=variables(self.programs),
            check=True,
            capture_output=True,
        )

    def beside(self, commands: Sequence[tuple[str, ...]], at_a_time: int) -> None:
        """A process for each."""
        with ThreadPoolExecutor(at_a_time) as pool:
            list(pool.map(lambda command: self.call(*command), commands))


class Softmark(Grader):
    """`softmark grade`, its workers and all."""

    environment = "softmark"

    def __init__(self, top: Path, submissions: int) -> None:
        self.name, self.submissions = f"softmark {submissions}", submissions
        super().__init__(top)

    def prepare(self) -> None:
        for number in range(self.submissions):
            home = self.folder / "class" / f"student_{number:04}"
            home.mkdir(parents=True)
            shutil.copy(SOLUTION, home)

    def run(self, at_a_time: int) -> None:
        shutil.rmtree(self.folder / "grades", ignore_errors=True)
        self.call("softmark", "grade", str(SMALL), "class", "-o", "grades", "-j", str(at_a_time))

    def points(self) -> float:
        record = self.folder / "grades" / f"student_{self.submissions - 1:04}" / "grade.json"
        return json.loads(record.read_bytes())["points"]


class Process(Grader):
    """One that grades a folder with a submission in it by a process."""

    submissions = 8
    command: tuple[str, ...]

    def prepare(self) -> None:
        super().prepare()
        for number in range(self.submissions):
            home = self.folder / str(number)
            home.mkdir()
            shutil.copy(SOLUTION, home / "six_handed_in.py")
            self.write(home)

    def write(self, home: Path) -> None:
        """What lies beside a submission."""

    def run(self, at_a_time: int) -> None:
        self.beside(
            [tuple(word.format(number) for word in self.command) for number in range(self.submissions)], at_a_time
        )


_IMPORTS = """
import sys
sys.path[:0] = [{top!r}, {home!r}]
import six_checks, six_reference, six_handed_in
"""


class Pytest(Process):
    """A test file for pytest."""

    name = environment = "pytest"
    command = ("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml={0}/report.xml", "{0}/test_six.py")

    def write(self, home: Path) -> None:
        tests = [f"def test_{name}():\n    six_checks.{name}(six_handed_in, six_reference)\n" for name in NAMES]
        (home / "test_six.py").write_text("\n".join([_IMPORTS.format(top=str(self.folder), home=str(home)), *tests]))

    def points(self) -> float:
        report = (self.folder / str(self.submissions - 1) / "report.xml").read_text()
        return 6 * ('tests="6"' in report and 'failures="0"' in report and 'errors="0"' in report)


class GradescopeUtils(Process):
    """A unittest with gradescope-utils' decorators and runner, as its documentation has it."""

    name = environment = "gradescope-utils"
    command = ("python", "{0}/run_tests.py")

    def write(self, home: Path) -> None:
        tests = [
            f'    @number("1.{place}")\n    @weight(1)\n    def test_{name}(self):\n'
            f'        """{name.replace("_", " ")}"""\n        six_checks.{name}(six_handed_in, six_reference)\n'
            for place, name in enumerate(NAMES, 1)
        ]
        head = (
            "import unittest\n"
            "from gradescope_utils.autograder_utils.decorators import number, weight\n"
            "from gradescope_utils.autograder_utils.json_test_runner import JSONTestRunner\n"
            f"{_IMPORTS.format(top=str(self.folder), home=str(home))}\n\nclass TestSix(unittest.TestCase):\n"
        )
        tail = (
            "\n\nsuite = unittest.defaultTestLoader.loadTestsFromTestCase(TestSix)\n"
            f"with open({str(home / 'results.json')!r}, 'w') as out:\n    JSONTestRunner(stream=out).run(suite)\n"
        )
        (home / "run_tests.py").write_text(head + "\n".join(tests) + tail)

    def points(self) -> float:
        results = json.loads((self.folder / str(self.submissions - 1) / "results.json").read_bytes())
        return sum(test["score"] for test in results["tests"])


class Otter(Process):
    """A notebook with otter's checks, run outside of a container: `otter run` with the zip of `otter generate`."""

    name = environment = "otter"
    submissions = 6
    command = ("otter", "run", "{0}/six.ipynb", "-a", "autograder.zip", "-o", "{0}", "--no-logo")

    def prepare(self) -> None:
        tests = self.folder / "tests"
        tests.mkdir()
        for name in NAMES:
            (tests / f"{name}.py").write_text(
                "from otter.test_files import test_case\n"
                f"{_NAMESPACE.format(top=str(self.folder))}"
                f'OK_FORMAT = False\nname = "{name}"\npoints = 1\n\n\n@test_case()\ndef test_it(env):\n'
                '    handed_in = SimpleNamespace(softmax=env["softmax"], attention=env["attention"])\n'
                f"    six_checks.{name}(handed_in, six_reference)\n"
            )
        (self.folder / "requirements.txt").write_text("")
        self.call(
            "otter", "generate", "-t", "tests", "-o", "autograder.zip", "--no-environment", "-r", "requirements.txt"
        )
        super().prepare()

    def write(self, home: Path) -> None:
        cells = ["import otter\ngrader = otter.Notebook()", SOLUTION.read_text()]
        cells += [f'grader.check("{name}")' for name in NAMES]
        _write_notebook([nbformat.v4.new_code_cell(cell) for cell in cells], home / "six.ipynb")

    def points(self) -> float:
        results = json.loads((self.folder / str(self.submissions - 1) / "results.json").read_bytes())
        return sum(test["score"] for test in results["tests"] if "score" in test)


class Nbgrader(Grader):
    """A course of nbgrader with one assignment: a process of `nbgrader autograde` for each submission."""

    name = environment = "nbgrader"
    submissions = 4

    def prepare(self) -> None:
        super().prepare()
        solution = _cell(SOLUTION.read_text().replace("# BEGIN", "### BEGIN").replace("# END", "### END"), "solution")
        tests = [
            _cell(
                f"{_NAMESPACE.format(top=str(self.folder))}"
                f"six_checks.{name}(SimpleNamespace(softmax=softmax, attention=attention), six_reference)",
                name,
                points=1,
            )
            for name in NAMES
        ]
        for slot in range(AT_MOST):  # each process at work has a course of its own: they share one database otherwise
            course = self.folder / f"course_{slot}"
            (course / "source" / "six").mkdir(parents=True)
            _write_notebook([solution, *tests], course / "source" / "six" / "six.ipynb")
            self.call("nbgrader", "generate_assignment", "six", "--create", folder=course)
            for number in range(self.submissions // AT_MOST):
                home = course / "submitted" / f"student_{number}" / "six"
                home.mkdir(parents=True)
                shutil.copy(course / "source" / "six" / "six.ipynb", home)

    def run(self, at_a_time: int) -> None:
        with ThreadPoolExecutor(at_a_time) as pool:
            list(pool.map(self.grade_course, [self.folder / f"course_{slot}" for slot in range(AT_MOST)]))

    def grade_course(self, course: Path) -> None:
        """Half of the class."""
        for number in range(self.submissions // AT_MOST):
            self.call("nbgrader", "autograde", "six", "--student", f"student_{number}", "--force", folder=course)

    def points(self) -> float:
        with sqlite3.connect(self.folder / f"course_{AT_MOST - 1}" / "gradebook.db") as book:
            grades = book.execute("select auto_score from grade").fetchall()
        return sum(score for (score,) in grades) / (self.submissions // AT_MOST)


class NbgraderBatch(Nbgrader):
    """The same with one process for half of the class."""

    name = "nbgrader, its batch"
    submissions = 8

    def grade_course(self, course: Path) -> None:
        self.call("nbgrader", "autograde", "six", "--force", folder=course)


_NAMESPACE = """import sys
from types import SimpleNamespace
sys.path.insert(0, {top!r})
import six_checks, six_reference
"""


def _cell(source: str, name: str, points: int = 0) -> nbformat.NotebookNode:
    cell = nbformat.v4.new_code_cell(source)
    cell.metadata["nbgrader"] = {
        "grade": points > 0,
        "grade_id": name,
        "locked": points > 0,
        "schema_version": 3,
        "solution": points == 0,
        "task": False,
        **({"points": points} if points else {}),
    }
    return cell


def _write_notebook(cells: Sequence[nbformat.NotebookNode], path: Path) -> None:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(nbformat.v4.new_notebook(cells=list(cells), metadata={"kernelspec": kernel}), path)
