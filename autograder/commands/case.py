"""`softmark case`: the case at which a visible check fails, as a script beside the student's code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from safetensors.torch import save_file  # pyright: ignore[reportUnknownVariableType]

from autograder.commands.check import with_subject
from autograder.diagnosis.diagnosis import Diagnosis, with_causes
from autograder.errors import SoftmarkError
from autograder.grading.checks import Check
from autograder.grading.grader import no_such_check
from autograder.grading.known_mistakes import trace_of
from autograder.grading.line import Transport
from autograder.grading.plugin import CheckRun, Checks, Subject, Usage
from autograder.grading.verdict import error_of, examine, result
from autograder.report.case_script import CALLS, CaseScript, Exchange
from autograder.report.lines import labelled
from autograder.report.view import for_students
from autograder.run.home import home_of


def case_command(folder: Path, number: str) -> int:
    """Write `case_<number>.py`, and the large tensors beside it; 1 where there is no case to write."""
    home = home_of(folder)
    runs: list[tuple[CheckRun, list[list[Exchange]]]] = []

    def work(checks: Checks, subject: Callable[[], Any]) -> None:
        check = next((each for each in checks.checks if each.number == number), None)
        if check is None:
            raise SoftmarkError(no_such_check(number, checks.checks))
        inner = subject()
        noting = _Noting(inner)
        try:
            runs.append((examine(checks, check, noting, None), noting.items))
        finally:
            if hasattr(inner, "finish"):
                inner.finish()

    with_subject(home, False, work)
    [(run, items)] = runs
    diagnosis = Diagnosis(home.bank)
    diagnosis.see(trace_of(run))
    [found] = with_causes([result(run)], diagnosis)
    failing = next((place for place, item in enumerate(run.items) if error_of(item) is not None), None)
    if failing is None:
        print(f"{number} passes: there is no case to write.")
        return 1
    exchanges = items[failing] if failing < len(items) else []
    if not any(isinstance(request, CALLS) for request, _ in exchanges):
        print(f"{number} called nothing of yours: softmark check --only {number} says why.")
        return 1
    told = for_students(found)
    lines = [(label, text) for label, text in labelled(told) if label in ("expected", "got", "cause")] if told else []
    script = CaseScript(found.part, exchanges, found.title, lines)
    path = home.folder / f"case_{number.replace('.', '_')}.py"
    tensors = path.with_suffix(".safetensors")
    path.write_text(script.text(tensors.name), encoding="utf-8")
    if script.tensors:
        save_file(script.tensors, tensors)
    python = Path(sys.executable)  # of the virtual environment, which need not be active
    shown = python.relative_to(home.folder) if python.is_relative_to(home.folder) else python.stem
    print(f"{path.name} written: {shown} {path.name} runs it, {shown} -m pdb {path.name} under a debugger.")
    return 0


class _Noting:
    """A subject that keeps what each item of a check asked."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self.items: list[list[Exchange]] = []

    def open(self, check: Check, seconds: float) -> Transport:
        transport = self._subject.open(check, seconds)
        self.items.append([])
        return _Noted(transport, self.items[-1])

    def expect(self, more: bool) -> None:
        self._subject.expect(more)

    def close(self) -> None:
        self._subject.close()

    def usage(self) -> Usage:
        return self._subject.usage()

    def file(self, name: str) -> bytes | None:
        return self._subject.file(name)


class _Noted:
    def __init__(self, transport: Transport, exchanges: list[Exchange]) -> None:
        self._transport, self._exchanges = transport, exchanges

    def request(self, message: Any, answer: Any = None) -> Any:
        self._exchanges.append((message, None))
        reply = self._transport.request(message, answer)
        self._exchanges[-1] = (message, reply)
        return reply

    def weigh(self, message: Any) -> Any:
        self._exchanges.append((message, None))
        reply, account = self._transport.weigh(message)
        self._exchanges[-1] = (message, reply)
        return reply, account
