"""The table of tasks in a handout, between `<!-- tasks -->` and `<!-- /tasks -->`: points, minutes, checks.

Points come from the checks (each names its exercise by `@pytest.mark.read("handout 2.3")`), minutes and difficulty from
the handout's own headings, and both are held to the manifest: a heading that says other points than its checks give is
an error. Checks are read as text and never run. A handout without the two marks stays as it is.

    ### 2.1 softmax (2.5 points)

    *Difficulty 1 of 5, importance 5 of 5, 10 minutes.*
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from autograder.assignment.assignment import Assignment, Part
from autograder.errors import SoftmarkError
from autograder.results import number_key

BEGIN, END = "<!-- tasks -->", "<!-- /tasks -->"
REGION = re.compile(f"{BEGIN}\n.*?{END}", re.DOTALL)
HEADING = re.compile(r"^### (?P<number>\d+\.\d+) (?P<name>[^(\n]+?)(?: \((?P<aside>[^)\n]*)\))?$", re.MULTILINE)
FACTS = re.compile(
    r"\*Difficulty (?P<difficulty>\d) of 5, importance (?P<importance>\d) of 5, (?P<minutes>\d+) minutes"
)
POINTS = re.compile(r"(?P<points>\d+(?:\.\d+)?) points?\b")
PART = re.compile(
    r"^## Part (?P<number>\d+): .*\(`(?P<file>\w+\.py)`, (?P<points>\d+(?:\.\d+)?) points\)$", re.MULTILINE
)


class Counted(NamedTuple):
    """A check as the table needs it."""

    number: str
    points: float
    hidden: bool
    exercise: str


class Exercise(NamedTuple):
    """One `###` heading of the handout. `points` is what it says, None where it says none."""

    number: str
    name: str
    points: float | None
    difficulty: str
    minutes: int
    bonus: bool


def with_tasks(handout: str, assignment: Assignment) -> str:
    """The handout with its table of tasks made anew.

    Raises:
        SoftmarkError: a heading and the checks, or the manifest, do not agree on points.
    """
    if not REGION.search(handout):
        return handout
    exercises, checks = exercises_of(handout), list(checks_of(assignment))
    _refuse_disagreement(handout, exercises, checks, assignment)
    table = "\n".join(_rows(exercises, checks, assignment))
    return REGION.sub(lambda _: f"{BEGIN}\n{table}\n{END}", handout)


def exercises_of(handout: str) -> list[Exercise]:
    """The exercises that the handout has headings for, in its order."""
    found: list[Exercise] = []
    headings = list(HEADING.finditer(handout))
    ends = [*(heading.start() for heading in headings[1:]), len(handout)]
    for heading, end in zip(headings, ends, strict=False):  # without a heading there is one end too many
        facts = FACTS.search(handout, heading.end(), end)
        points = POINTS.search(heading["aside"] or "")
        name = heading["name"].strip()
        found.append(
            Exercise(
                number=heading["number"],
                name=name.removeprefix("Bonus: "),
                points=float(points["points"]) if points else None,
                difficulty=facts["difficulty"] if facts else "",
                minutes=int(facts["minutes"]) if facts else 0,
                bonus=name.startswith("Bonus: "),
            )
        )
    return found


def checks_of(assignment: Assignment) -> Iterator[Counted]:
    """Number, weight and exercise of every check, visible ones first in each part."""
    for path in assignment.check_files():
        for node in _module(path).body:
            if isinstance(node, ast.FunctionDef) and (said := _decorators(node, path)) and "number" in said:
                exercise = str(said.get("read", "")).removeprefix("handout ")
                hidden = path.parent == assignment.hidden
                yield Counted(str(said["number"]), float(said.get("weight", 0)), hidden, exercise)


def _module(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError as error:
        raise SoftmarkError(f"{path}, line {error.lineno}, is not Python: {error.msg}.") from error


def _decorators(node: ast.FunctionDef, path: Path) -> dict[str, str | float]:
    """What `@number("2.1")`, `@weight(1)` and `@pytest.mark.read("...")` say."""
    said: dict[str, str | float] = {}
    for decorator in node.decorator_list:
        if not isinstance(decorator, ast.Call) or not isinstance(decorator.func, (ast.Name, ast.Attribute)):
            continue
        name = decorator.func.id if isinstance(decorator.func, ast.Name) else decorator.func.attr
        if name in ("number", "weight", "read"):
            first = decorator.args[0] if decorator.args else None
            if not isinstance(first, ast.Constant) or not isinstance(first.value, (str, int, float)):
                raise SoftmarkError(f"{path}, line {decorator.lineno}: the table of tasks needs a plain value here.")
            said[name] = first.value
    return said


def _refuse_disagreement(
    handout: str, exercises: Sequence[Exercise], checks: Sequence[Counted], assignment: Assignment
) -> None:
    path = assignment.folder / "handout.md"
    for part, heading in _with_headings(handout, assignment):
        if heading is None or heading["file"] != part.file or float(heading["points"]) != part.points:
            expected = f"## Part {part.number}: ... (`{part.file}`, {part.points:g} points)"
            raise SoftmarkError(f"{path} needs the heading '{expected}', as the manifest has it.")
    known = {exercise.number for exercise in exercises}
    for check in checks:
        if check.exercise not in known:
            raise SoftmarkError(
                f"{path} has no exercise '{check.exercise}', which check {check.number} names: an exercise is a "
                "heading such as '### 1.1 softmax (2 points)', and a check names it by "
                '@pytest.mark.read("handout 1.1").'
            )
    for exercise in exercises:
        points = _points(exercise, checks)
        if exercise.points is not None and abs(exercise.points - points) > 1e-9:
            raise SoftmarkError(
                f"{path}: {exercise.number} says {exercise.points:g} points, and its checks give {points:g}."
            )


def _with_headings(handout: str, assignment: Assignment) -> Iterator[tuple[Part, re.Match[str] | None]]:
    headings = {int(match["number"]): match for match in PART.finditer(handout)}
    for part in assignment.parts:
        yield part, headings.get(part.number)


def _points(exercise: Exercise, checks: Sequence[Counted]) -> float:
    return math.fsum(check.points for check in checks if check.exercise == exercise.number)


def _rows(exercises: Sequence[Exercise], checks: Sequence[Counted], assignment: Assignment) -> Iterator[str]:
    yield "| | task | points | minutes | difficulty | checks you have | hidden checks |"
    yield "|---|---|--:|--:|:-:|---|---|"
    for part in assignment.parts:
        own = [exercise for exercise in exercises if exercise.number.partition(".")[0] == str(part.number)]
        minutes = sum(exercise.minutes for exercise in own if not exercise.bonus)
        yield f"| **{part.number}** | **{part.title}**, `{part.file}` | **{part.points:g}** | **{minutes}** | | | |"
        for exercise in own:
            points = f"{_points(exercise, checks):g}"
            if exercise.bonus:
                points = "bonus" if points == "0" else f"bonus, {points}"
            visible, hidden = (
                _numbers(check.number for check in checks if check.exercise == exercise.number and check.hidden == side)
                for side in (False, True)
            )
            cells = (exercise.number, exercise.name, points, str(exercise.minutes or ""), exercise.difficulty)
            yield f"| {' | '.join((*cells, visible, hidden))} |"
    total = sum(exercise.minutes for exercise in exercises if not exercise.bonus)
    yield f"| | **all, without bonus** | **{assignment.maximum:g}** | **{total}** | | | |"


def _numbers(numbers: Iterator[str]) -> str:
    """2.1a, 2.1b, 2.1c, 2.1f -> "2.1a to 2.1c, 2.1f"."""
    runs: list[list[str]] = []
    for number in sorted(numbers, key=number_key):
        if runs and _follows(number, runs[-1][-1]):
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(run) for run in runs)


def _follows(number: str, before: str) -> bool:
    """Whether "2.3b" comes right after "2.3a", and "2.3" right after "2.2"."""
    (*exercise, last), (*exercise_before, last_before) = number_key(number), number_key(before)
    if exercise != exercise_before or last[0] != last_before[0]:
        return False
    (kind, digits, letter), (_, digits_before, letter_before) = last, last_before
    return digits == digits_before + 1 if kind == 0 else len(letter) == 1 and ord(letter) == ord(letter_before[-1]) + 1
