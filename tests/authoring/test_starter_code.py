"""The starter is the reference without what stands between the solution marks."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.assignment.assignment import Assignment, Limits, Part
from autograder.authoring.starter_code import make_starter, stale, without_solution, write_starter
from autograder.errors import SoftmarkError
from autograder.worker.loader import Loader

SOLUTION = '''"""Attention."""
import torch


def softmax(x, dim):
    """Rows sum to 1."""
    # BEGIN SOLUTION
    z = x.exp()
    return z / z.sum(dim, keepdim=True)
    # END SOLUTION


# BEGIN SOLUTION
def secret_recipe(x):
    return x
# END SOLUTION


class Heads:
    def __init__(self, heads):
        # BEGIN SOLUTION
        self.heads = heads
        # STARTER: self.heads = ...
        # STARTER: if heads < 1:
        # STARTER:     raise ValueError
        # END SOLUTION
        self.given = True


# BEGIN SOLUTION
SYMMETRIES = {"conv": "cyclic"}
# STARTER: SYMMETRIES = {"conv": ""}
# END SOLUTION
'''

STARTER = '''"""Attention."""
import torch


def softmax(x, dim):
    """Rows sum to 1."""
    raise NotImplementedError


class Heads:
    def __init__(self, heads):
        self.heads = ...
        if heads < 1:
            raise ValueError
        self.given = True


SYMMETRIES = {"conv": ""}
'''


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    part = Part(name="attention", number=2, title="A", points=1, functions=("softmax", "Heads.forward", "SYMMETRIES"))
    folder = tmp_path / "assignments" / "08"
    folder.mkdir(parents=True)
    (folder / "handout.md").write_text("# Handout\n")
    made = Assignment(name="08", title="T", folder=folder, key=b"k", parts=(part,), limits=Limits())
    made.solutions.mkdir(parents=True)
    (made.solutions / "attention.py").write_text(SOLUTION)
    return made


def test_a_block_becomes_a_stub_its_starter_lines_or_nothing() -> None:
    assert without_solution(SOLUTION, Path("attention.py")) == STARTER


def test_the_starter_holds_the_parts_and_the_handout(assignment: Assignment) -> None:
    assert make_starter(assignment) == {"attention.py": STARTER.encode(), "README.md": b"# Handout\n"}


def test_what_was_written_is_not_stale_until_the_solution_changes(assignment: Assignment) -> None:
    assert stale(assignment) == ["README.md", "attention.py"]
    assert write_starter(assignment) == ["README.md", "attention.py"]
    assert (assignment.starter / "attention.py").read_bytes() == STARTER.encode()
    assert stale(assignment) == []
    (assignment.solutions / "attention.py").write_text(SOLUTION.replace("import torch", "import math"))
    assert stale(assignment) == ["attention.py"]
    assert write_starter(assignment) == ["attention.py"]
    assert stale(assignment) == []


def test_a_file_that_is_no_longer_made_is_stale_and_goes(assignment: Assignment) -> None:
    write_starter(assignment)
    (assignment.starter / "old_part.py").write_text("x = 1\n")
    assert write_starter(assignment) == ["old_part.py"]
    assert not (assignment.starter / "old_part.py").exists()


def test_figures_notebook_and_what_is_given_come_along(assignment: Assignment) -> None:
    for name, text in {"figures/a.svg": "<svg/>", "given/data/x.json": "{}", "given/draw.py": "x = 1\n"}.items():
        (assignment.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (assignment.folder / name).write_text(text)
    (assignment.folder / "notebook.py").write_text("# %%\nimport attention\n")
    beside = ["README.md", "figures/a.svg", "given/data/x.json", "given/draw.py", "notebook.ipynb"]
    assert write_starter(assignment) == sorted([*beside, "attention.py"])
    assert (assignment.starter / "figures" / "a.svg").read_text() == "<svg/>"
    assert "import attention" in (assignment.starter / "notebook.ipynb").read_text()
    (assignment.starter / "given" / "draw.py").write_text("x = 2\n")
    (assignment.folder / "figures" / "a.svg").unlink()
    assert stale(assignment) == ["figures/a.svg", "given/draw.py"]
    write_starter(assignment)
    assert not (assignment.starter / "figures" / "a.svg").exists()
    assert stale(assignment) == []


@pytest.mark.parametrize("name", ["given/draw.py", "notebook.py"])
def test_a_mark_of_a_solution_in_what_is_given_is_refused(assignment: Assignment, name: str) -> None:
    (assignment.folder / "given").mkdir()
    (assignment.folder / name).write_text("# %%\n# BEGIN SOLUTION\nx = 1\n# END SOLUTION\n")
    with pytest.raises(SoftmarkError, match=r"py, line 2: students get this file as it is, so no solution may stand"):
        make_starter(assignment)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("x = 1\n# END SOLUTION\n", r"a\.py, line 2: '# END SOLUTION' without '# BEGIN SOLUTION'"),
        ("x = 1\n# BEGIN SOLUTION\n", r"a\.py, line 2: '# BEGIN SOLUTION' has no '# END SOLUTION'"),
        ("# BEGIN SOLUTION\n# BEGIN SOLUTION\n", r"a\.py, line 2: .* within the block that begins in line 1"),
        ("x = 1  # BEGIN SOLUTION\n", r"a\.py, line 1: write the mark alone in its line"),
        ("### begin solution\n", r"a\.py, line 1: write the mark alone in its line"),
        ("# END SOLUTIONS\n", r"a\.py, line 1: write the mark alone in its line"),
    ],
)
def test_a_mark_that_could_leak_a_solution_is_refused(source: str, sentence: str) -> None:
    with pytest.raises(SoftmarkError, match=sentence):
        without_solution(source, Path("a.py"))


def test_a_solution_that_takes_the_function_itself_away_is_refused(assignment: Assignment) -> None:
    (assignment.solutions / "attention.py").write_text(
        "# BEGIN SOLUTION\ndef softmax(x, dim): return x\n# END SOLUTION\n"
    )
    with pytest.raises(SoftmarkError, match="lacks softmax, which students are to write"):
        make_starter(assignment)


def test_a_starter_that_is_not_python_is_refused(assignment: Assignment) -> None:
    (assignment.solutions / "attention.py").write_text(
        "def softmax(x):\n# BEGIN SOLUTION\n    return x\n# END SOLUTION\n"
    )
    with pytest.raises(SoftmarkError, match="not Python"):
        make_starter(assignment)


def test_a_helper_between_the_methods_of_a_class_disappears_and_the_class_still_works() -> None:
    source = (
        "class Heads:\n    def count(self):\n        # BEGIN SOLUTION\n        return self._all()\n"
        "        # END SOLUTION\n\n    # BEGIN SOLUTION\n    def _all(self):\n        return 3\n    # END SOLUTION\n"
    )
    starter = without_solution(source, Path("heads.py"))
    assert starter == "class Heads:\n    def count(self):\n        raise NotImplementedError\n"


@pytest.mark.parametrize("path", sorted(Path(__file__).parents[2].glob("starter_code/*/*.py")), ids=lambda p: p.stem)
def test_every_starter_file_of_the_course_can_be_imported(path: Path) -> None:
    module = Loader(path.parent, [other.stem for other in path.parent.glob("*.py")]).load(path.stem)
    assert module.__doc__
