"""The rounding bounds of part 3, each tried on many legal formulas and draws: `python -m benchmarks.positions 300`.

Three tables. The bounds themselves at extremes: positions up to a million, 2 to 512 features, many bases. The checks,
run here with other draws than the course's: of each comparison, how much of its bound the worst legal formula uses
(less than 1, with room to spare). And the mistakes of the bank: by how much the checks that catch them do so at least,
whatever is drawn (more than 1). A comparison that no legal formula may fail, and every mistake must, gives points.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import inspect
import io
import itertools
import math
import random
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from autograder.assignment.assignment import load_assignment
from autograder.assignment.bank import BankEntry, bank, overlay
from autograder.results import number_key
from autograder.testing import numbers, symmetry
from autograder.testing.cases import Cases
from autograder.testing.gradients import vjp
from benchmarks.measure import Row, print_table
from benchmarks.position_formulas import Formula, formulas
from support import extrapolation
from support.extrapolation import rope_bound, sinusoidal_bound

ROOT = Path(__file__).resolve().parents[1]
ASSIGNMENT = ROOT / "assignments" / "08_transformers"
ROOM = 0.75
"""A bound of which legal formulas use more than this is too narrow to give points by."""


def rows(draws: int = 300) -> list[Row]:
    """How much of each bound is used at most, and by how much mistakes are beyond it at least."""
    part = load_assignment(ASSIGNMENT).part("positions")
    entries = bank(load_assignment(ASSIGNMENT), part)
    table = [_used(f"{what}, extremes", *found) for what, found in at_extremes(draws).items()]
    with Checks() as checks:
        within = used(checks, entries, draws)
        beyond = caught(checks, entries, max(draws // 30, 2))
    table += [_used(f"check {number}", *found) for number, found in sorted(within.items(), key=_key)]
    for number, (ratio, name) in sorted(beyond.items(), key=_key):
        figure = f"{ratio:.3g} ({name})" if math.isfinite(ratio) else "each fails in another way"
        table.append(Row(f"check {number}: the mistake nearest to its bounds", figure, "more than 1", ratio > 1))
    return table


def _used(what: str, ratio: float, name: str) -> Row:
    return Row(f"{what}: used of the bound", f"{ratio:.2f} ({name})", f"at most {ROOM}", ratio <= ROOM)


def _key(item: tuple[str, Any]) -> Any:
    return number_key(item[0])


# ------------------------------------------------------------------ the bounds at extremes


def at_extremes(draws: int, seed: int = 0) -> dict[str, tuple[float, str]]:
    """For each bound the largest error / bound over so many draws, each for every formula, and the worst formula."""
    oracle, every = solution(), list(formulas())
    worst: dict[str, tuple[float, str]] = {}
    draw = random.Random(seed)
    generator = torch.Generator().manual_seed(seed)
    for _ in range(draws):
        d = 2 * round(2 ** draw.uniform(0, 8))
        base = draw.choice([2.0, 10.0, 100.0, 10_000.0, 500_000.0, 1e6])
        farthest = int(10 ** draw.uniform(0, 6))
        kind = draw.choice([torch.int32, torch.int64])
        positions = torch.randint(-farthest, farthest + 1, (7,), generator=generator).to(kind)
        dtype = draw.choice([torch.float32, torch.float64])
        x = (10 ** draw.uniform(-3, 3) * torch.randn(7, d, generator=generator, dtype=torch.float64)).to(dtype)
        waves, turned = oracle.sinusoidal(positions.double(), d, base), oracle.rope(x.double(), positions, base)
        for formula in draw.sample(every, 40):
            _keep(
                worst,
                "sinusoidal_bound",
                formula.sinusoidal(positions, d, base),
                waves,
                sinusoidal_bound(positions),
                formula,
            )
            _keep(worst, "rope_bound", formula.rope(x, positions, base), turned, rope_bound(x, positions), formula)
    return worst


def _keep(worst: dict[str, tuple[float, str]], what: str, got: Tensor, expected: Tensor, within: float, by: Formula):
    ratio = float((got.double() - expected.double()).abs().max()) / within
    worst[what] = max(worst.get(what, (0.0, "")), (ratio, by.name))


# ------------------------------------------------------------------ the checks, on other draws


class Checks:
    """Part 3's checks as functions of (student, reference, cases); within `with`, their comparisons only measure."""

    def __init__(self) -> None:
        self.items = list(_items())
        self.found: list[float] = []
        self._replaced: list[tuple[ModuleType, str, Any]] = []

    def __enter__(self) -> Checks:
        for module in (extrapolation, symmetry, *{id(each.module): each.module for each in self.items}.values()):
            self._replace(module, "assert_close", self._compare)
            if module is not extrapolation:
                self._replace(module, "assert_order_matters", self._order_matters)
        return self

    def __exit__(self, *_: object) -> None:
        while self._replaced:
            setattr(*self._replaced.pop())

    def _replace(self, module: ModuleType, name: str, by: Any) -> None:
        if hasattr(module, name):
            self._replaced.append((module, name, getattr(module, name)))
            setattr(module, name, by)

    def run(self, item: Item, student: Any, key: bytes) -> float:
        """The largest error / bound of the comparisons of one check; infinite where it fails in another way."""
        self.found.clear()
        given = {"student": student, "reference": solution(), "cases": Cases(key, item.number), **item.parameters}
        names = inspect.signature(item.function).parameters
        try:
            item.function(**{name: value for name, value in given.items() if name in names})
        except Exception:
            return math.inf
        return max(self.found, default=0.0)

    def _compare(
        self, got: Any, expected: Tensor, what: str, *, within: float, dtype: torch.dtype | None = None
    ) -> None:
        numbers.assert_close(got, expected, what, within=math.inf, dtype=dtype)
        if got.numel():
            error = float((got.detach().double() - expected.double()).abs().max())
            self.found.append(error / within if within else math.inf * bool(error))

    def _order_matters(self, before: Tensor, after: Tensor, order: Tensor) -> None:
        difference = float((after - before[order]).abs().max())
        self.found.append(1e-3 * float(before.abs().max()) / difference if difference else math.inf)


@dataclass(frozen=True)
class Item:
    """One check, or one item of a parametrised one."""

    number: str
    module: ModuleType
    function: Callable[..., None]
    parameters: dict[str, Any]


def _items() -> Iterator[Item]:
    for path in (ASSIGNMENT / "checks" / "test_positions.py", ASSIGNMENT / "checks" / "hidden" / "test_positions.py"):
        with _quietly():  # nobody has registered our marks here
            module = _load(f"benchmark_{path.parent.name}_positions", path)
        for function in vars(module).values():
            if not hasattr(function, "__number__"):
                continue
            marks = [mark for mark in getattr(function, "pytestmark", []) if mark.name == "parametrize"]
            choices = [[(mark.args[0], value) for value in mark.args[1]] for mark in marks]
            for parameters in itertools.product(*choices):
                yield Item(function.__number__, module, function, dict(parameters))


def used(checks: Checks, entries: list[BankEntry], draws: int) -> dict[str, tuple[float, str]]:
    """For each check the largest error / bound over so many draws, each for some variants of the bank and formulas."""
    variants, every = [Student.of(entry) for entry in entries if entry.kind == "variant"], list(formulas())
    worst: dict[str, tuple[float, str]] = defaultdict(lambda: (0.0, ""))
    for item in checks.items:
        source, draw = inspect.getsource(item.function), random.Random(item.number)
        able = [student for student in variants if student.own & set(re.findall(r"\w+", source))]
        others = every if re.search("sinusoidal|rope", source) else []
        for number in range(draws if "cases" in source else 1):
            few = 6 if "cases" in source else 50
            chosen = [
                *draw.sample(able, min(few, len(able))),
                *map(Student.by, draw.sample(others, min(few, len(others)))),
            ]
            for student in chosen:
                with student.at_work():
                    found = (checks.run(item, student, f"draw {number}".encode()), student.name)
                worst[item.number] = max(worst[item.number], found)
    return dict(worst)


def caught(checks: Checks, entries: list[BankEntry], draws: int) -> dict[str, tuple[float, str]]:
    """For each check the smallest error / bound over so many draws of the mistakes that it catches, and the mistake."""
    least: dict[str, tuple[float, str]] = {}
    for entry in entries:
        if entry.kind == "variant" or entry.crashes:
            continue
        for draw in range(draws):
            student = Student.of(entry)
            for number in entry.caught_by:
                # An item of a parametrised check is enough: the check loses points.
                with student.at_work():
                    items = [each for each in checks.items if each.number == number]
                    found = (max(checks.run(each, student, f"draw {draw}".encode()) for each in items), entry.name)
                least[number] = min(least.get(number, (math.inf, "none")), found)
    return least


# ------------------------------------------------------------------ a student without a worker


class Student:
    """The names of a module as the checks see them; what is called is called here, in this process."""

    def __init__(self, name: str, names: Any, own: Iterable[str], default: torch.dtype = torch.float32) -> None:
        self.name, self.own, self._names, self._default = name, frozenset(own), names, default

    @classmethod
    def of(cls, entry: BankEntry) -> Student:
        """A mistake or a variant, laid over the reference."""
        module = ModuleType(f"benchmark_{entry.name}")
        source = overlay((ROOT / "solutions" / "08_transformers" / "positions.py").read_text("utf-8"), entry.source())
        with _quietly():
            exec(compile(source, entry.name, "exec"), module.__dict__)
        default = torch.get_default_dtype()
        torch.set_default_dtype(torch.float32)
        own = [
            node.name for node in ast.parse(entry.source()).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        ]
        return cls(entry.name, module, own, default)

    @classmethod
    def by(cls, formula: Formula) -> Student:
        """The reference with one formula in place of its own."""
        kept = {name: getattr(solution(), name) for name in ("LearnedPositions", "alibi_bias")}
        own = {"sinusoidal": formula.sinusoidal, "rope": formula.rope}
        return cls(formula.name, SimpleNamespace(**own, **kept), own)

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Nothing printed, and torch's default dtype the one that the module chose."""
        with _quietly():
            torch.set_default_dtype(self._default)
            try:
                yield
            finally:
                torch.set_default_dtype(torch.float32)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._names, name)

    def observe(self, function: Callable[..., Any], *args: Any) -> Any:
        """The result alone: purity is no question of rounding."""
        return SimpleNamespace(value=function(*args), args=args, kwargs={}, changed=[])

    def vjp(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        cotangents: tuple[Tensor, ...],
        then: tuple[Any, ...] = (),
    ) -> Any:
        """Gradients, in this process; `then` are the arguments of another call before they are pulled back."""
        pulled = vjp(_Twice(function, then), args, cotangents)
        parameters = {name.removeprefix("function."): each for name, each in pulled.parameters.items()}
        return SimpleNamespace(args=pulled.args, parameters=parameters)

    def measure(
        self, function: Callable[..., Any], make_args: Callable[[int], tuple[Any, ...]], lengths: list[int], device: str
    ) -> list[Any]:
        """The device of each result; none where numbers are asked for, and none of a formula, which knows no device."""
        if not isinstance(self._names, ModuleType):
            return []
        try:
            return [SimpleNamespace(devices=[str(function(*make_args(n)).device)]) for n in lengths]
        except (NotImplementedError, RuntimeError, TypeError) as error:
            if re.search("meta tensor|item\\(\\)|to numpy", str(error)):
                return []
            raise


class _Twice(torch.nn.Module):
    """A function, or a module, that is called once more with other arguments after each call."""

    def __init__(self, function: Callable[..., Any], then: tuple[Any, ...]) -> None:
        super().__init__()
        self.function, self.then = function, then

    def forward(self, *args: Any) -> Any:
        result = self.function(*args)
        if self.then:
            self.function(*self.then)
        return result


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def solution() -> ModuleType:
    """The reference's part 3."""
    if not _loaded:
        _loaded.append(_load("benchmark_positions_reference", ROOT / "solutions" / "08_transformers" / "positions.py"))
    return _loaded[0]


_loaded: list[ModuleType] = []


def _load(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    torch.set_num_threads(1)
    measured = rows(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
    print_table(measured)
    sys.exit(0 if all(row.holds for row in measured) else 1)
