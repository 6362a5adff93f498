"""The pytest plugin: checks are collected once, then run for each submission.

It supplies the fixtures `student`, `reference`, `cases`, `given`, `handed_in`, `forbids`, `set_score` and
`set_leaderboard_value`, and records what each item did. `verdict` decides what that is worth. A `Subject` says where
student code runs.
"""

from __future__ import annotations

import gc
import math
import sys
import time
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import pytest
from _pytest.runner import runtestprotocol  # what plugins that run tests again call, too

from autograder.assignment.assignment import GIVEN, Assignment
from autograder.errors import GraderError
from autograder.grading.checks import Check, collect
from autograder.grading.line import ANYWHERE, Line, Transport
from autograder.grading.proxy import RemoteObject, Student, use
from autograder.grading.reference import Oracle, ReferenceLine
from autograder.results import Ours, ReturnedObject, WrongForm
from autograder.testing.cases import Cases
from autograder.testing.mismatch import recorder


class Subject(Protocol):
    """Whose code is checked: a submission in workers, a folder in this process, or the reference itself."""

    def expect(self, more: bool) -> None:
        """Before a check: whether another one follows it."""
        ...

    def open(self, check: Check, seconds: float) -> Transport:
        """A transport for the next item of `check`, which may use `seconds` of CPU."""
        ...

    def close(self) -> None:
        """The check has ended: whatever runs on its behalf dies."""
        ...

    def usage(self) -> Usage:
        """What the check that has just ended used and printed."""
        ...

    def file(self, name: str) -> bytes | None:
        """A data file that was handed in beside the parts, as the grader read it; None where there is none."""
        ...


@dataclass(frozen=True)
class Usage:
    """What student code used in one check."""

    cpu_seconds: float = 0.0
    output: str = ""


@dataclass
class Comparison:
    """One value of the student's that a check looked at, in the order in which it did."""

    what: str
    got: Any
    expected: Any


@dataclass
class ItemRun:
    """What happened in one run of one pytest item."""

    line: Line
    error: BaseException | None = None
    score: float | None = None
    leaderboard: float | str | None = None
    comparisons: list[Comparison] = field(default_factory=list[Comparison])


@dataclass
class CheckRun:
    """What happened in one run of one check.

    `reason` is set where an error was found to be ours (then `traceback` says more), or a student's strange value.
    """

    check: Check
    items: list[ItemRun]
    usage: Usage = Usage()
    wall_seconds: float = 0.0
    reason: Ours | WrongForm | ReturnedObject | None = None
    traceback: str = ""


class Checks:
    """The checks of one assignment (on a student's machine the visible ones), ready to run any number of times."""

    def __init__(
        self,
        assignment: Assignment,
        oracle: Oracle | None,
        *,
        visible_only: bool = False,
        at_home: Oracle | None = None,
    ) -> None:
        """`at_home` answers in place of `oracle` on the public key. With `visible_only` there is no other key."""
        self.assignment = assignment
        self._oracle, self._at_home = oracle, at_home or oracle
        self.two_keys = not visible_only and (assignment.hidden / "key").is_file()
        self._public = False
        self.files = tuple(
            file for file in assignment.check_files() if not (visible_only and file.parent == assignment.hidden)
        )
        self.checks: tuple[Check, ...] = ()
        self.objects: dict[tuple[str, bool], frozenset[str]] = {}
        self._objects: Container[str] | None = ANYWHERE
        self._keys: dict[bool, bytes] = {}
        self._faults: list[str] = []
        self._check: Check | None = None
        self._item: pytest.Function | None = None
        self._run: ItemRun | None = None
        self._subject: Subject | None = None

    def run(
        self,
        check: Check,
        subject: Subject,
        *,
        public: bool = False,
        objects: Container[str] | None = ANYWHERE,
    ) -> CheckRun:
        """Run all items of `check` against `subject`. Nothing that student code does makes this raise.

        Points are given on the hidden key, where there is one; `public` draws the inputs that a student has at home.
        `objects` are the places of the check where student code may give objects; None: not known yet.
        """
        self._objects = objects
        _forget_the_check_before()
        self._public = public or not self.two_keys
        start = time.monotonic()
        runs: list[ItemRun] = []
        try:
            for index, item in enumerate(check.items):
                following = check.items[index + 1] if index + 1 < len(check.items) else None
                runs.append(self._run_item(check, item, following, subject))
        finally:
            subject.close()
        return CheckRun(check, runs, subject.usage(), time.monotonic() - start)

    def _run_item(
        self, check: Check, item: pytest.Function, following: pytest.Function | None, subject: Subject
    ) -> ItemRun:
        self._check, self._item, self._subject = check, item, subject
        self._run = run = ItemRun(
            Line(
                _Lazy(lambda: subject.open(check, check.seconds)),
                check.part,
                None if self._oracle is None else self._oracle.classes(check.part),
            )
        )
        run.line.expected = self._objects
        token = recorder.set(self._record)
        try:
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        finally:
            recorder.reset(token)
            self._check = self._item = self._run = self._subject = None
        return run

    def _record(self, got: Any, expected: Any, what: str) -> None:
        assert self._run is not None
        if isinstance(got, RemoteObject):
            use(got)
        self._run.comparisons.append(Comparison(what, got, expected))

    # -------------------------------------------------------------- fixtures

    @pytest.fixture
    def student(self) -> Student:
        """What was handed in: attributes are its functions and classes."""
        assert self._run is not None
        return Student(self._run.line)

    @pytest.fixture
    def reference(self) -> Student:
        """The reference solution of the check's part, asked like `student`."""
        assert self._check is not None and self._item is not None
        oracle = self._at_home if self._public else self._oracle
        if oracle is None or oracle.classes(self._check.part) is None:
            raise GraderError(
                f"part {self._check.part} has no reference solution here: students have "
                "its answers in the zip of softmark release"
            )
        item = f"{self._check.part}.{self._item.name}"
        return Student(ReferenceLine(_Lazy(lambda: oracle.open(item)), self._check.part))

    @pytest.fixture
    def forbids(self) -> tuple[str, ...]:
        """What the manifest forbids in the check's part."""
        assert self._check is not None
        return self.assignment.part(self._check.part).forbids

    @pytest.fixture
    def given(self) -> Path:
        """The assignment's folder `given/`: what students have of it, and what their code finds when it is graded."""
        if self.assignment.given is None:
            raise GraderError(f"{self.assignment.folder} has no folder {GIVEN}: make it, or do not ask for `given`")
        return self.assignment.given

    @pytest.fixture
    def handed_in(self) -> Callable[[str], bytes | None]:
        """Gives the bytes of a data file that was handed in, by name. They come from the grader, not from a worker.

        Their content is the student's: parse it strictly (as `testing.weights` does).
        """
        assert self._subject is not None
        return self._subject.file

    @pytest.fixture
    def cases(self) -> Cases:
        """Draws from small to large, the same for every student and run; each item of a check has its own."""
        assert self._check is not None and self._item is not None
        return Cases(self._key(not self._public), f"{self._check.part}.{self._item.name}")

    @pytest.fixture
    def set_score(self) -> Callable[[float], None]:
        """Points of this item, out of its share of the check's weight."""
        run, check = self._run, self._check
        assert run is not None and check is not None
        share = check.weight / len(check.items)

        def set_score(value: float) -> None:
            points = float(value)
            if not (math.isfinite(points) and -1e-9 <= points <= share + 1e-9):
                raise ValueError(f"set_score({value!r}): points must lie between 0 and {share:g}")
            run.score = min(max(points, 0.0), share)

        return set_score

    @pytest.fixture
    def set_leaderboard_value(self) -> Callable[[float | str], None]:
        """The value of this check's leaderboard column."""
        run = self._run
        assert run is not None

        def set_leaderboard_value(value: float | str) -> None:
            if isinstance(value, str) or math.isfinite(float(value)):
                run.leaderboard = value if isinstance(value, str) else float(value)
                return
            raise ValueError(f"set_leaderboard_value({value!r}): a leaderboard shows finite numbers or text")

        return set_leaderboard_value

    def _key(self, hidden: bool) -> bytes:
        if hidden not in self._keys:
            self._keys[hidden] = self.assignment.hidden_key() if hidden else self.assignment.key
        return self._keys[hidden]

    # -------------------------------------------------------------- hooks

    def pytest_configure(self, config: pytest.Config) -> None:
        config.addinivalue_line("markers", "extra_credit: the check's points are on top of its part's")
        config.addinivalue_line("markers", "read(where): where a student reads about the property")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.checks = collect(items, self.assignment)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._faults.append(f"{report.nodeid}: {_last_line(str(report.longrepr))}")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """As pytest itself does, without its logging."""
        runtestprotocol(item, log=False, nextitem=nextitem)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
        """Keep the exception itself. pytest's own report renders the traceback, half of a failing grade's time."""
        if self._run is not None and call.excinfo is not None and self._run.error is None:
            self._run.error = call.excinfo.value
        outcome: Literal["passed", "failed"] = "passed" if call.excinfo is None else "failed"
        when = call.when if call.when != "collect" else "call"
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, when)

    @pytest.hookimpl(tryfirst=True)
    def pytest_timeout_set_timer(self) -> bool:
        """Workers have their own time limits, in CPU seconds, so pytest-timeout's timer stays off."""
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_timeout_cancel_timer(self) -> bool:
        return True

    @property
    def faults(self) -> Sequence[str]:
        """Why check files could not be collected, if any could not."""
        return self._faults


_modules_at_rest = [0]


def _forget_the_check_before() -> None:
    """Drop the last error: its frames hold what students returned, up to 64 MB for each item."""
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        if hasattr(sys, name):
            delattr(sys, name)
    gc.collect()
    if len(sys.modules) > _modules_at_rest[0]:  # what a check has imported stays: no later collection goes through it
        gc.freeze()
        _modules_at_rest[0] = len(sys.modules)


class _Lazy:
    """Opens the real transport at the first request, so that a check which never calls the student starts nothing."""

    def __init__(self, opening: Callable[[], Transport]) -> None:
        self._opening = opening
        self._transport: Transport | None = None

    def request(self, message: Any, answer: Any = None) -> Any:
        if self._transport is None:
            self._transport = self._opening()
        return self._transport.request(message) if answer is None else self._transport.request(message, answer)

    def weigh(self, message: Any) -> Any:
        if self._transport is None:
            self._transport = self._opening()
        return self._transport.weigh(message)


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return lines[-1].removeprefix("E   ") if lines else "it failed to import"
