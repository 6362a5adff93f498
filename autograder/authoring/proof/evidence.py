"""What the traces of a mistake were made from, as a hash that the bank keeps beside them.

Where nothing of that has changed, a mistake needs no trying on every check of its part again: what it gave stands in
the bank. That it is caught is never taken from there: the checks named in CAUGHT_BY run each time, and where they give
something else than the bank says, the bank is not believed (`agrees`). Comments and docstrings decide nothing.
"""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path

from autograder.assignment.assignment import MANIFEST, Assignment, Part
from autograder.assignment.bank import BankEntry, weights_in
from autograder.authoring.portability import imported_modules
from autograder.diagnosis.fingerprint import Fingerprint, agree
from autograder.diagnosis.mistake_bank import AT_HOME, Bank, Failure, KnownMistake

Failures = tuple[Failure | None, ...]

PACKAGE = Path(__file__).resolve().parents[2]
ROOTS = (
    *("grading/plugin.py", "grading/workers.py", "grading/verdict.py", "grading/known_mistakes.py"),
    *("diagnosis/traces.py", "diagnosis/mistake_bank.py", "authoring/proof/influence.py"),
    *("sandbox/launch.py", "worker", "testing"),
)
"""What gives a verdict and makes a trace of it. All that these import, directly or not, decides what a check sees."""
WORDING = ("diagnosis/causes.py",)
"""What a verdict imports only to word a failure: it decides nothing, and neither does what it imports."""


class Evidence:
    """The hashes of one assignment as it is now."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self._sources = {part.name: assignment.reference(part).read_text(encoding="utf-8") for part in assignment.parts}
        self._support = {
            ".".join(path.relative_to(assignment.folder / "checks").with_suffix("").parts).removesuffix(".__init__"): (
                path.read_text(encoding="utf-8")
            )
            for path in assignment.support_files()
        }
        self._weights = weights_in(assignment.solutions)
        self._common = [grader_digest(), _file(assignment.folder / MANIFEST), _file(assignment.hidden / "key")]

    def of(self, part: Part, entry: BankEntry) -> str:
        """A hash of what decides what `entry` gives in the checks of its part."""
        digest = hashlib.sha256(_joined(self._common))
        digest.update(_joined(code_of(source) for source in self._check_sources(part)))
        for name in self._shared_by(part):
            digest.update(_joined([name, code_of(self._support[name])]))
        for name in self._imported(part.name, entry):
            digest.update(_joined([name, code_of(self._sources[name])]))
        weights = {**self._weights, **entry.weights()}
        digest.update(_joined([code_of(entry.source()), *(part for pair in sorted(weights.items()) for part in pair)]))
        return digest.hexdigest()

    def _check_sources(self, part: Part) -> list[str]:
        folders = (self._assignment.hidden.parent, self._assignment.hidden)
        paths = [folder / f"test_{part.name}.py" for folder in folders]
        return [path.read_text(encoding="utf-8") if path.is_file() else "" for path in paths]

    def _shared_by(self, part: Part) -> list[str]:
        """The support modules that the part's checks import, and those that these import."""
        found: set[str] = set()
        waiting = self._check_sources(part)
        while waiting:
            for name in _imports(waiting.pop()) & self._support.keys() - found:
                found.add(name)
                waiting.append(self._support[name])
        return sorted(found)

    def _imported(self, part: str, entry: BankEntry) -> list[str]:
        """The part, and every part that it may import: all where an import may not be seen."""
        found: list[str] = []
        waiting = [part]
        sources: Mapping[str, str] = self._sources
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            found.append(name)
            imported = _imports(sources[name]).union(_imports(entry.source()) if name == part else ())
            waiting += sources if imported & {"importlib", "__import__"} else imported & sources.keys()
        return sorted(found)


def agrees(known: KnownMistake, number: str, failures: Failures) -> bool:
    """Whether a check gave just now what the bank says of it."""
    before = known.checks.get(number)
    return (
        before is not None
        and len(before) == len(failures)
        and all(same_failure(a, b) for a, b in zip(before, failures, strict=True))
    )


def same_bank(a: Bank, b: Bank) -> bool:
    """Whether two banks say the same, but for what rounding changes in the values."""
    return (
        (a.made_from, a.functions, a.mistakes.keys()) == (b.made_from, b.functions, b.mistakes.keys())
        and all(_words(one) == _words(b.mistakes[name]) for name, one in a.mistakes.items())
        and all(same_behaviour(one, b.mistakes[name]) for name, one in a.mistakes.items())
    )


def _words(known: KnownMistake) -> tuple[object, ...]:
    return known.sentence, known.defines, known.made_from


def same_behaviour(a: KnownMistake, b: KnownMistake) -> bool:
    """Whether two mistakes cannot be told apart by anything that any check saw on the hidden key."""
    numbers = {number for number in a.checks if not number.endswith(AT_HOME)}
    others = {number for number in b.checks if not number.endswith(AT_HOME)}
    return numbers == others and all(agrees(a, number, b.checks[number]) for number in numbers)


def same_failure(a: Failure | None, b: Failure | None) -> bool:
    """Whether an item ended in the same way, after the same values."""
    if a is None or b is None:
        return a is b
    if (a.length, a.ending, a.by_value, len(a.earlier)) != (b.length, b.ending, b.by_value, len(b.earlier)):
        return False
    pairs = [(a.value, b.value), *((x, y) for (_, x), (_, y) in zip(a.earlier, b.earlier, strict=True))]
    places = all(i == j for (i, _), (j, _) in zip(a.earlier, b.earlier, strict=True))
    return places and all(_same_value(x, y) for x, y in pairs)


def _same_value(a: Fingerprint | None, b: Fingerprint | None) -> bool:
    return a is b if a is None or b is None else agree(a, b)


@cache
def grader_digest(package: Path = PACKAGE) -> str:
    """A hash of the sources of `package` that decide what a check sees: `ROOTS` and all that they import.

    Raises `FileNotFoundError` where a file of `ROOTS` or `WORDING` is not there.
    """
    sources = deciding_sources(package)
    return hashlib.sha256(_joined(text for name in sorted(sources) for text in (name, sources[name]))).hexdigest()


def deciding_sources(package: Path) -> dict[str, str]:
    """The code of each source that decides what a check sees, by its path in `package`."""
    for path in (package / name for name in (*ROOTS, *WORDING)):
        if not path.exists():
            raise FileNotFoundError(
                f"{path} is not there, but {Path(__file__).name} names it: write its new name there"
            )
    roots = [package / name for name in ROOTS]
    waiting = [path for root in roots for path in (root.rglob("*.py") if root.is_dir() else [root])]
    found: dict[str, str] = {}
    while waiting:
        path = waiting.pop()
        name = path.relative_to(package).as_posix()
        if name not in found and name not in WORDING:
            source = path.read_text(encoding="utf-8")
            found[name] = code_of(source)
            nodes = ast.walk(ast.parse(source))
            for module in imported_modules(nodes, within=path.parent.relative_to(package.parent).parts):
                target = package.parent.joinpath(*module.split("."))
                if target.is_relative_to(package):
                    waiting += filter(Path.is_file, (target.with_suffix(".py"), target / "__init__.py"))
    return found


@lru_cache(maxsize=256)  # every mistake of a part asks for its reference and its checks
def code_of(source: str) -> str:
    """A source without comments, docstrings and empty lines: what is left decides what it does.

    The text and not the syntax tree, which is another in each version of Python.
    """
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            _blank_docstring(node, lines)
    return "\n".join(line.rstrip() for line in lines if line.strip())


@lru_cache(maxsize=256)
def _imports(source: str) -> frozenset[str]:
    """The modules that a source imports anywhere, the packages they lie in, and `__import__` where it names that."""
    nodes = list(ast.walk(ast.parse(source)))
    names = {node.id for node in nodes if isinstance(node, ast.Name) and node.id == "__import__"}
    dotted = [name.split(".") for name in imported_modules(nodes)]
    return frozenset(names).union(".".join(words[:stop]) for words in dotted for stop in range(1, len(words) + 1))


def _blank_docstring(
    node: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, lines: list[str]
) -> None:
    first = node.body[0] if node.body else None
    if not (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    ):
        return
    start, stop = first.lineno - 1, first.end_lineno or first.lineno
    before = lines[start].encode()[: first.col_offset].strip()
    after = lines[stop - 1].encode()[first.end_col_offset :].strip()
    if not before and not after:  # else it shares its line with code
        lines[start:stop] = [""] * (stop - start)


def _file(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b"no such file"


def _joined(parts: Iterable[str | bytes]) -> bytes:
    """Each part with its length before it, so that no two lists give the same."""
    data = [part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part for part in parts]
    return b"".join(b"%d:" % len(each) + each for each in data)
