"""`softmark memory`: how the memory of one function grows with the length, as a table, as JSON and as a picture.

The allocation model measures the submission in a worker and the reference here; the naive form goes on, on fake
tensors, to lengths that no machine holds. With `--device cuda` a GPU's own allocator measures them, and torch's
attention, in a process that nothing confines. It grades nothing.
"""

from __future__ import annotations

import datetime
import inspect
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import torch

from autograder.assignment.assignment import Assignment, Part, load_assignment
from autograder.errors import SoftmarkError
from autograder.grading.line import Answering, Line
from autograder.grading.proxy import Student
from autograder.grading.reference import Reference
from autograder.intake.submission import Submission, read_submission
from autograder.report.memory_growth import Card, Curve, MemoryGrowth, Peak, as_text, draw
from autograder.report.sentences import sentence
from autograder.run.session import Session
from autograder.sandbox.account import Account
from autograder.sandbox.deaths import WorkerFailure
from autograder.sandbox.in_process import InProcessWorker
from autograder.sandbox.on_card import Form, OnCard
from autograder.sandbox.temporary import TemporaryFolder
from autograder.sandbox.worker import Worker
from autograder.student_error import StudentError
from autograder.testing.memory import exponents, growth
from autograder.worker.meters.card import CardRun
from autograder.worker.protocol.messages import Load, Measured, Raised, Reply, Request

LENGTHS = (1024, 2048, 4096)
NAIVE_LENGTHS = (*LENGTHS, 8192, 16384, 32768, 65536)
WIDTH = 64
CHUNK = 128
CARD_CHUNK = 512  # on a GPU a chunk of 128 would be 16 times as many small kernels
SECONDS = 120.0
_NAIVE = """
import torch

def attention(q, k, v):
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    weights = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return weights / weights.sum(dim=-1, keepdim=True) @ v

def library(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)
"""
_QKV = ("q", "k", "v")


def memory_command(folder: Path, submission: Path, function: str, plot: Path | None, device: str, as_json: bool) -> int:
    """Carry out `softmark memory`."""
    assignment = load_assignment(folder)
    if device == "cuda":
        with OnCard() as card:
            report = growth_on_card(assignment, submission, function, card.runs, _card())
    else:
        report = growth_of(assignment, submission, function)
    if plot is not None:
        draw(report, plot)
    if as_json:
        sys.stdout.write(msgspec.json.encode(report).decode() + "\n")
    else:
        print(as_text(report))
    return 0


def growth_of(assignment: Assignment, path: Path, function: str) -> MemoryGrowth:
    """Measure `function` of what was handed in at `path`.

    Raises `SoftmarkError` for a function that is not of this assignment, or not one of queries, keys and values.
    """
    part = _part_of(assignment, function)
    with Session() as session, TemporaryFolder() as top:
        session.wait_ready()
        tree = read_submission(Submission(name=path.resolve().name, path=path), assignment)
        top.chmod(0o711)
        tree.write(top / "submission")
        worker = session.spawn_from(assignment)(top / "submission")()
        try:
            theirs = _Direct(worker)
            reply = theirs.request(Load(part.name))
            if isinstance(reply, Raised):
                raise SoftmarkError(f"{part.file} cannot be imported: {reply.message or reply.kinds[0]}.", exit_code=1)
            reference = Reference(assignment)
            make_args = _arguments(getattr(reference.modules[part.name], function), function)
            (top / "naive.py").write_text(_NAIVE)
            forms = (
                ("submission", theirs, part.name, function, make_args),
                ("reference", _Direct(reference.worker), part.name, function, make_args),
                ("naive", _Direct(InProcessWorker(top, ["naive"])), "naive", "attention", _queries_keys_values),
            )
            curves = [
                _curve(name, Student(Line(transport, module)), form, arguments, training)
                for name, transport, module, form, arguments in forms
                for training in (False, True)
            ]
        finally:
            worker.close()
    return MemoryGrowth(path.resolve().name, function, tuple(curves))


def growth_on_card(
    assignment: Assignment,
    path: Path,
    function: str,
    runs: Callable[[Form, Sequence[int]], Sequence[CardRun]],
    card: Card,
    device: str = "cuda",
) -> MemoryGrowth:
    """As `growth_of`, on a GPU and outside the sandbox: `runs` measures a form at each length, until memory is full.

    The verdict is that of the checks: the second difference of the bytes that were requested, which no constant such as
    a workspace changes.
    """
    part = _part_of(assignment, function)
    with TemporaryFolder() as top:
        tree = read_submission(Submission(name=path.resolve().name, path=path), assignment)
        tree.write(top / "submission")
        (top / "naive").mkdir()
        (top / "naive" / "naive.py").write_text(_NAIVE)
        reference = Reference(assignment)
        needed = _needed(getattr(reference.modules[part.name], function), function)
        forms = (
            ("submission", top / "submission", part.name, function, needed),
            ("reference", assignment.solutions, part.name, function, needed),
            ("naive", top / "naive", "naive", "attention", _QKV),
            ("library", top / "naive", "naive", "library", _QKV),
        )
        curves = [
            _curve_on_card(name, Form(str(place), module, form, names, training, WIDTH, CARD_CHUNK, device), runs)
            for name, place, module, form, names in forms
            for training in (False, True)
        ]
    return MemoryGrowth(path.resolve().name, function, tuple(curves), card)


def _curve_on_card(name: str, form: Form, runs: Callable[[Form, Sequence[int]], Sequence[CardRun]]) -> Curve:
    done: list[CardRun] = []

    def measure(lengths: Sequence[int]) -> Sequence[Any]:
        done.extend(found := runs(form, lengths))
        if len(found) < len(lengths):
            raise MemoryError
        return found

    def requested(run: Any) -> int:
        return run.requested

    pair: float | None = None
    try:
        found = growth(measure, CARD_CHUNK, requested)
        pair = 0.0 if found.is_linear else found.bytes_a_pair
    except MemoryError:  # the card is full: what was measured stands, without a verdict
        pass
    steps = [None, *exponents([run.n for run in done], [run.requested for run in done])] if done else []
    peaks = [Peak(run.n, run.requested, step, run.seconds) for run, step in zip(done, steps, strict=True)]
    return Curve(name, form.training, tuple(peaks), pair)


def _card() -> Card:
    """The GPU that is measured on. Raises `SoftmarkError` where there is none."""
    if not torch.cuda.is_available():
        raise SoftmarkError(
            f"torch {torch.__version__} finds no GPU here: leave out --device cuda, and the allocation model measures."
        )
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    driver = getattr(torch.cuda, "_get_nvml_driver_version", lambda: "")() or f"CUDA {torch.version.cuda}"
    return Card(torch.cuda.get_device_name(), str(driver), torch.__version__, now)


# ------------------------------------------------------------------ measuring


class _Direct:
    """A transport to one worker, without the bookkeeping of checks."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def request(self, message: Request, answer: Answering | None = None) -> Reply:
        try:
            return self._worker.request(message, cpu_seconds=SECONDS, wall_seconds=3 * SECONDS)
        except WorkerFailure as fate:
            raise SoftmarkError(f"The code could not be measured: {fate}.", exit_code=1) from None

    def weigh(self, message: Request) -> tuple[Reply, Account | None]:
        return self.request(message), None


def _part_of(assignment: Assignment, function: str) -> Part:
    for part in assignment.parts:
        if function in part.functions:
            return part
    known = ", ".join(name for part in assignment.parts for name in part.functions)
    raise SoftmarkError(f"{assignment.name} has no function {function!r}; it has {known}.")


def _arguments(function: Callable[..., Any], name: str) -> Callable[[int], tuple[Any, ...]]:
    """What the function is called with at length n."""
    needed = _needed(function, name)

    def at(n: int) -> tuple[Any, ...]:
        return tuple(torch.empty(1, 1, n, WIDTH, device="meta") if parameter in _QKV else CHUNK for parameter in needed)

    return at


def _needed(function: Callable[..., Any], name: str) -> tuple[str, ...]:
    """The parameters that the function must be given. Raises `SoftmarkError` for one that nobody knows how to fill."""
    needed = tuple(
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is inspect.Parameter.empty
    )
    strange = [parameter for parameter in needed if parameter not in (*_QKV, "chunk", "window")]
    if strange or not needed:
        why = f"{name} also takes {strange[0]}" if strange else f"{name} takes nothing"
        raise SoftmarkError(f"Memory is measured of functions of q, k, v and a chunk or window; {why}.")
    return needed


def _queries_keys_values(n: int) -> tuple[torch.Tensor, ...]:
    return tuple(torch.empty(1, 1, n, WIDTH, device="meta") for _ in range(3))


def _curve(
    name: str, student: Student, function: str, make_args: Callable[[int], tuple[Any, ...]], training: bool
) -> Curve:
    naive = name == "naive"  # on fake tensors: no machine holds real ones of its lengths
    points: list[Measured] = []
    for n in NAIVE_LENGTHS if naive else LENGTHS:
        try:
            points += student.measure(getattr(student, function), make_args, [n], grad=training, fake=naive)
        except StudentError as error:  # out of memory, as a rule: the curve ends there
            if not points:
                raise SoftmarkError(f"{name}: {sentence(error.reason)}", exit_code=1) from None
            break
    return Curve(name, training, _runs(points))


def _runs(points: Sequence[Measured]) -> tuple[Peak, ...]:
    steps = [None, *exponents([point.n for point in points], [point.peak for point in points])]
    return tuple(Peak(p.n, p.peak, step) for p, step in zip(points, steps, strict=True))
