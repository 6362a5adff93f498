"""The pytest session in which an assignment's checks are collected once and then run any number of times.

Only the plugins that run checks are loaded, nothing is printed, and the process is afterwards as it was before.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from types import ModuleType

import pytest

from autograder.assignment.assignment import Assignment
from autograder.errors import SoftmarkError
from autograder.grading.plugin import Checks


def with_checks(checks: Checks, work: Callable[[], None]) -> None:
    """Collect the check files of an assignment with pytest, then do `work` inside that pytest session.

    Raises `SoftmarkError` if the files cannot be collected or break a rule. What `work` raises is passed on.
    """
    raised: list[BaseException] = []

    class Loop:
        @pytest.hookimpl(tryfirst=True)
        def pytest_runtestloop(self, session: pytest.Session) -> bool:
            if raised:
                return True
            try:
                if checks.faults:
                    raise SoftmarkError("A check file cannot be collected. " + " ".join(checks.faults))
                gc.collect()
                gc.freeze()  # then collecting between checks takes only a millisecond
                work()
            except BaseException as error:
                raised.append(error)
            finally:
                gc.unfreeze()
            return True

        @pytest.hookimpl(wrapper=True)
        def pytest_collection(self) -> Generator[None, object, object]:
            try:
                return (yield)
            except SoftmarkError as error:  # else pytest would print it; the caller does
                raised.append(error)
                return None

    if any(file.parent == checks.assignment.hidden for file in checks.files):
        checks.assignment.hidden_key()  # else each hidden check would break, for each student
    with _quiet_pytest(checks.files), _support_importable(checks.assignment):
        code = pytest.main(_arguments(checks.assignment, checks.files), plugins=[checks, Loop()])
    if raised:
        raise raised[0]
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise SoftmarkError(
            "The checks cannot be collected: " + (" ".join(checks.faults) or f"pytest ended with {code}.")
        )


def _arguments(assignment: Assignment, files: Sequence[os.PathLike[str]]) -> list[str]:
    off = "terminal cacheprovider unraisableexception threadexception logging faulthandler "
    off += "junitxml debugging setuponly setupplan stepwise pastebin"
    return [
        f"--rootdir={assignment.folder}",
        f"--config-file={os.devnull}",
        f"--confcutdir={assignment.folder}",  # else every folder above would be set up for each check
        "--import-mode=importlib",
        "--noconftest",
        "--assert=plain",  # pytest would compare what a student returned line by line, without a bound
        "--continue-on-collection-errors",
        "-s",
        "-p",
        "pytest_timeout",
        *(word for plugin in off.split() for word in ("-p", f"no:{plugin}")),
        *(os.fspath(file) for file in files),
    ]


@contextmanager
def _support_importable(assignment: Assignment) -> Generator[None]:
    """Within, `support.NAME` is imported from `checks/support/`, `hidden.support.NAME` from `checks/hidden/support/`.

    Two packages made by hand stand in `sys.modules`. (With a folder on `sys.path` an installed `support` would win.)
    Afterwards they and all that was imported from them are gone, so that two assignments do not mix.
    """

    def ours() -> list[str]:
        return [name for name in sys.modules if name.partition(".")[0] in ("support", "hidden")]

    before = {name: sys.modules.pop(name) for name in ours()}
    for name, folder in (("support", assignment.support), ("hidden", assignment.hidden)):
        package = sys.modules[name] = ModuleType(name)
        package.__path__ = [str(folder)]
    try:
        yield
    finally:
        for name in ours():
            del sys.modules[name]
        sys.modules.update(before)


@contextmanager
def _quiet_pytest(files: Sequence[os.PathLike[str]]) -> Generator[None]:
    """Only the plugins named load, no byte code is written, and the check modules are forgotten afterwards.

    (pytest's importlib mode would find them in `sys.modules` the next time, by a name that two assignments can share.)
    """
    before = {
        name: os.environ.get(name)
        for name in ("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST")
    }
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.pop("PYTEST_ADDOPTS", None)
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        names = {os.path.realpath(file) for file in files}
        for name, module in list(sys.modules.items()):
            if os.path.realpath(getattr(module, "__file__", None) or "") in names:
                del sys.modules[name]
        sys.dont_write_bytecode = writes
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
