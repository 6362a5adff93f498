"""Checks as the grader knows them: pytest functions with a number, a weight and a property.

It reads the decorators of `gradescope_utils` and the markers, removes the decorators' wrappers (which remember the last
student's score), and enforces every rule that a set of checks must obey before anything is graded.
"""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

import pytest

from autograder.assignment.assignment import Assignment
from autograder.errors import SoftmarkError
from autograder.results import Visibility, number_key


@dataclass(frozen=True)
class Leaderboard:
    """A column that a check fills."""

    name: str
    order: Literal["asc", "desc"]


@dataclass(frozen=True)
class Check:
    """One check: one function, one result. `items` are its pytest items (several where it is parametrised)."""

    number: str
    name: str
    part: str
    title: str
    weight: float
    hidden: bool
    visibility: Visibility
    seconds: float
    partial: bool
    reading: str = ""
    hide_errors: str = ""
    tags: tuple[str, ...] = ()
    extra: bool = False
    leaderboard: Leaderboard | None = None
    forbids: tuple[str, ...] = ()
    items: tuple[pytest.Function, ...] = field(default=(), repr=False)

    @property
    def counted(self) -> float:
        """The points of it that are in its part's maximum: none for a bonus."""
        return 0.0 if self.extra else self.weight


def collect(items: Iterable[pytest.Item], assignment: Assignment) -> tuple[Check, ...]:
    """Group items into checks, in the order of their numbers. Any fault in them is a `SoftmarkError` that names it."""
    _refuse_unknown_bans(assignment)
    groups: dict[tuple[str, str], list[pytest.Function]] = {}
    for item in items:
        if not isinstance(item, pytest.Function) or item.cls is not None:
            raise SoftmarkError(
                f"{item.nodeid}: a check is a plain function; classes and other items are not supported."
            )
        groups.setdefault((str(item.path), item.originalname), []).append(item)
    checks = [_check(group, assignment) for group in groups.values()]
    _refuse_repeated_numbers(checks)
    return tuple(sorted(checks, key=lambda check: number_key(check.number)))


def _refuse_unknown_bans(assignment: Assignment) -> None:
    """A name that its package does not have forbids nothing. (A package that is not installed here may be named.)"""
    for part in assignment.parts:
        for rule in part.forbids:
            banned, _, excepted = rule.removeprefix("import ").partition(" except ")
            for name in (banned, *(each.strip() for each in excepted.split(",") if each)):
                package, *path = name.split(".")
                if " " not in name and _importable(package) and not _leads_somewhere(package, path):
                    raise SoftmarkError(
                        f"assignment.toml: part '{part.name}' forbids '{rule}', but {package} has no '{name}': "
                        "write the function's or the module's whole name."
                    )


def _importable(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def _leads_somewhere(module: str, path: list[str]) -> bool:
    """Whether each name of `path` is an attribute, or a module, of the one before it."""
    value: Any = importlib.import_module(module)
    for name in path:
        module = f"{module}.{name}"
        if not hasattr(value, name) and not (inspect.ismodule(value) and _importable(module)):
            return False
        value = getattr(value, name)
    return True


def _check(items: list[pytest.Function], assignment: Assignment) -> Check:
    function, marked = _unwrap(items)
    where = f"{items[0].path.name}: {items[0].originalname}"
    part = items[0].path.stem.removeprefix("test_")
    if part not in {each.name for each in assignment.parts}:
        known = ", ".join(each.name for each in assignment.parts)
        raise SoftmarkError(f"{items[0].path}: no part of the manifest is called '{part}' (it has: {known}).")
    number = marked("__number__")
    if not number:
        raise SoftmarkError(f'{where} has no number: put @number("2.1") on it.')
    doc = (inspect.getdoc(function) or "").strip()
    if not doc:
        raise SoftmarkError(f"{where} has no docstring: its first line is the property that students are shown.")
    hidden = items[0].path.parent.name == "hidden"
    column = marked("__leaderboard_column__")
    return Check(
        number=str(number),
        name=items[0].originalname,
        part=part,
        title=doc.splitlines()[0].strip(),
        weight=_weight(marked("__weight__"), where),
        hidden=hidden,
        visibility=_visibility(marked("__visibility__"), hidden, where),
        seconds=_seconds(items[0], where, assignment.limits.cpu_seconds),
        partial="set_score" in inspect.signature(function).parameters,
        reading=_reading(items[0], where),
        hide_errors=str(marked("__hide_errors__") or ""),
        tags=tuple(str(tag) for tag in marked("__tags__") or ()),
        extra=items[0].get_closest_marker("extra_credit") is not None,
        leaderboard=Leaderboard(str(column), marked("__leaderboard_sort_order__") or "desc") if column else None,
        forbids=assignment.part(part).forbids,
        items=tuple(items),
    )


def _unwrap(items: list[pytest.Function]) -> tuple[Callable[..., Any], Callable[[str], Any]]:
    """The author's own function, which is set on every item, and a look-up of an attribute through all its wrappers.

    The wrappers of gradescope-utils inject setters that write to the wrapper, which outlives a student. Our setters are
    fixtures, so the wrappers are removed. An outer decorator's attribute wins over an inner one's.
    """
    layers: list[Any] = [items[0].obj]
    while "gradescope_utils" in layers[-1].__code__.co_filename and hasattr(layers[-1], "__wrapped__"):
        layers.append(layers[-1].__wrapped__)
    for item in items:
        item.obj = layers[-1]

    def marked(attribute: str) -> Any:
        found: list[Any] = [vars(layer)[attribute] for layer in layers if attribute in vars(layer)]
        return found[0] if found else None

    return layers[-1], marked


def _weight(value: Any, where: str) -> float:
    if value is None:
        raise SoftmarkError(f"{where} has no weight: put @weight(POINTS) on it (0 for a bonus without points).")
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or value < 0:
        raise SoftmarkError(f"{where}: a weight of {value!r} is not a number of points from 0 up.")
    return float(value)


def _visibility(value: Any, hidden: bool, where: str) -> Visibility:
    if value is not None and value not in get_args(Visibility):
        raise SoftmarkError(f"{where}: '{value}' is not a visibility; use one of {', '.join(get_args(Visibility))}.")
    if hidden and value in (None, "visible"):
        raise SoftmarkError(f'{where} is in hidden/ but is not marked as hidden: put @visibility("hidden") on it.')
    if not hidden and value not in (None, "visible"):
        raise SoftmarkError(f"{where} is marked {value} but ships to students: move it to checks/hidden/.")
    return cast(Visibility, value or "visible")


def _seconds(item: pytest.Function, where: str, default: float) -> float:
    mark = item.get_closest_marker("timeout")
    if mark is None:
        return default
    value: Any = mark.args[0] if mark.args else mark.kwargs.get("timeout")
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        raise SoftmarkError(f"{where}: timeout({value!r}) is not a number of seconds above 0.")
    return float(value)


def _reading(item: pytest.Function, where: str) -> str:
    mark = item.get_closest_marker("read")
    if mark is None:
        return ""
    if len(mark.args) != 1 or not isinstance(mark.args[0], str):
        raise SoftmarkError(f'{where}: read takes one string, as in @pytest.mark.read("handout 2.3").')
    return mark.args[0]


def _refuse_repeated_numbers(checks: list[Check]) -> None:
    seen: dict[str, Check] = {}
    for check in checks:
        if check.number in seen:
            raise SoftmarkError(f"Two checks have number {check.number}: {seen[check.number].name} and {check.name}.")
        seen[check.number] = check


def refuse_wrong_points(checks: Iterable[Check], assignment: Assignment) -> None:
    """Weights add up to each part's points in the manifest, or nothing is graded."""
    checks = list(checks)
    for part in assignment.parts:
        ours = [check for check in checks if check.part == part.name]
        total = math.fsum(check.counted for check in ours)
        if abs(total - part.points) > 1e-9:
            each = ", ".join(f"{check.number}: {check.counted:g}" for check in ours) or "no check"
            raise SoftmarkError(
                f"{assignment.name}: the weights of part {part.number} ({part.name}) add up to {total:g} ({each}), but "
                f"the manifest says {part.points:g} points: change a weight, or `points` in "
                f"{assignment.folder / 'assignment.toml'}."
            )
