"""Imports the parts of a submission as flat modules that may import each other.

A `sys.exit()` at the end of a part ends its import and nothing else: what was defined before it counts. The folder
comes last on the path, so that nothing in it shadows a library; the parts come first, by exact name. An import of
something that is not here and that nothing uses is left out, as it is from a notebook. Every other exception of the
part's goes through.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Generator, Sequence
from types import CodeType, ModuleType

from .tracebacks import is_theirs

GIVEN = "given"
"""The folder, and so the package, of what an assignment gives; each submission and the reference have their own."""
CHECKS_PACKAGES = ("support", "hidden")
"""What check files import of their own assignment; a submission cannot."""


class _PartLoader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        """Always from the source: no byte code lies beside it, or none that counts."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)

    def exec_module(self, module: ModuleType) -> None:
        with contextlib.suppress(SystemExit):
            tree = None
            while True:
                try:
                    if tree is None:
                        super().exec_module(module)
                    else:
                        exec(compile(tree, self.path, "exec", dont_inherit=True), module.__dict__)
                    return
                except ModuleNotFoundError as error:
                    tree = tree or ast.parse(self.get_data(self.path), self.path)
                    if not _left_out(tree, error.name or ""):
                        raise


def _left_out(tree: ast.Module, missing: str) -> bool:
    """Take the imports of a `missing` module out of a file's top level, if nothing in the file uses what they bind."""
    used = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name)} | {"*"}
    found = False
    for one in list(tree.body):
        if not isinstance(one, ast.Import | ast.ImportFrom) or (isinstance(one, ast.ImportFrom) and one.level):
            continue
        kept = [
            alias
            for alias in one.names
            if not f"{one.module if isinstance(one, ast.ImportFrom) else alias.name}.".startswith(f"{missing}.")
            or (alias.asname or alias.name.partition(".")[0]) in used
        ]
        found = found or len(kept) < len(one.names)
        one.names = kept
        if not kept:
            tree.body.remove(one)
    return found


class Loader(importlib.abc.MetaPathFinder):
    """The parts `modules` in `folder`.

    Modules are visible in `sys.modules` only inside `installed()`, so that two submissions (or a submission and the
    reference) can live in one process.
    """

    def __init__(
        self, folder: str | os.PathLike[str], modules: Sequence[str], above_given: str | os.PathLike[str] | None = None
    ) -> None:
        """`above_given` is where the folder `given` lies, if that is not `folder`."""
        self.folder = os.path.abspath(folder)
        self._path = [self.folder, *([] if above_given is None else [os.path.abspath(above_given)])]
        self._names = frozenset(modules)
        self._modules: dict[str, ModuleType] = {}
        self._depth = 0

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Finds the parts, by exact name, and nothing else."""
        file = os.path.join(self.folder, f"{fullname}.py")
        if fullname not in self._names or not os.path.isfile(file):
            return None
        return importlib.util.spec_from_file_location(fullname, file, loader=_PartLoader(fullname, file))

    def load(self, module: str) -> ModuleType:
        """The part `module`, imported on first use. Raises what its import raises, `ModuleNotFoundError` without it."""
        with self.installed():
            return importlib.import_module(module)

    def modules(self) -> list[ModuleType]:
        """Every module of the folder that is loaded. For inside `installed()`."""
        return [module for module in list(sys.modules.values()) if self._is_theirs(module)]

    def _is_theirs(self, module: ModuleType) -> bool:
        origin = getattr(module, "__file__", None)
        return isinstance(origin, str) and is_theirs(origin, self.folder)

    @contextlib.contextmanager
    def installed(self) -> Generator[None]:
        """While open, imports find the parts. May be nested."""
        self._depth += 1
        if self._depth > 1:
            try:
                yield
            finally:
                self._depth -= 1
            return
        # In one process with the checks a helper of the student's may be called as their packages are.
        hidden = {name: sys.modules.pop(name) for name in (*self._names, *CHECKS_PACKAGES) if name in sys.modules}
        sys.modules.update(self._modules)
        before = len(sys.modules)
        sys.meta_path.insert(0, self)
        sys.path += self._path
        try:
            yield
        finally:
            self._depth -= 1
            self._remove(before, hidden)

    def _remove(self, before: int, hidden: dict[str, ModuleType]) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        for place in self._path:
            if place in sys.path:
                sys.path.remove(place)
        # Where nothing was imported, the two thousand others need no look: each request comes by here.
        found = self._modules if len(sys.modules) == before else sys.modules
        for name, module in list(found.items()):
            if name in self._names or name.partition(".")[0] == GIVEN or self._is_theirs(module):
                self._modules[name] = sys.modules.pop(name, module)
        sys.modules.update(hidden)
