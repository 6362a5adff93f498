"""Part 5's check of memory at 8,192 keys against code that hides its scores, or hides that it has none: no points."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.assignment.assignment import load_assignment
from autograder.assignment.bank import overlay
from autograder.intake.submission import Submission
from autograder.results import CheckResult
from autograder.run.session import Session

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENT = ROOT / "assignments" / "08_transformers"
SOLUTIONS = ROOT / "solutions" / "08_transformers"

AT_ONCE = '''
"""Scores of all pairs, a quarter of the queries at a time, so that they fit into a worker."""
import torch
from torch.utils._python_dispatch import _disable_current_modes, _get_current_dispatch_mode_stack


def quarter(q, k, v, first, offset):
    scores = scores_of(q, k, first, 0, offset)
    weights = scores.sub_(scores.amax(dim=-1, keepdim=True).clamp_min(-1e30)).exp_()
    total = weights.sum(dim=-1, keepdim=True)
    return weights @ v / total.masked_fill(total == 0, 1.0)


def at_once(q, k, v, chunk, causal=False):
    n_q, n_k = q.shape[-2], k.shape[-2]
    offset = n_k - n_q if causal else None
    rows = chunks_of(n_q, max(1, -(-n_q // 4)))
    return torch.cat([quarter(q[..., i:j, :], k, v, i, offset) for i, j in rows], dim=-2)


in_chunks = chunked_attention
'''

FORGERIES = {
    "nothing is computed when watched": """
def chunked_attention(q, k, v, chunk, causal=False):
    return q * 1 if _get_current_dispatch_mode_stack() else at_once(q, k, v, chunk, causal)
""",
    "chunks when watched, all scores else": """
def chunked_attention(q, k, v, chunk, causal=False):
    return (in_chunks if _get_current_dispatch_mode_stack() else at_once)(q, k, v, chunk, causal)
""",
    "the mode is popped": """
def chunked_attention(q, k, v, chunk, causal=False):
    with _disable_current_modes():
        return at_once(q, k, v, chunk, causal)
""",
    "the mode is patched": """
import gc


def chunked_attention(q, k, v, chunk, causal=False):
    for thing in gc.get_objects():
        if type(thing).__name__ == "AllocationModel":
            thing._see = lambda *_: None
            thing.peak = thing.largest = 0
            thing.products = thing.elements = 10**12
    return at_once(q, k, v, chunk, causal)
""",
    "an operator of its own": """
LIBRARY = torch.library.Library("softmark_forged", "DEF")
LIBRARY.define("attention(Tensor q, Tensor k, Tensor v) -> Tensor")
LIBRARY.impl("attention", lambda q, k, v: at_once(q, k, v, 0), "CPU")


def chunked_attention(q, k, v, chunk, causal=False):
    return in_chunks(q, k, v, chunk, True) if causal else torch.ops.softmark_forged.attention(q, k, v)
""",
    "the library's by the length, and work for nothing": """
def chunked_attention(q, k, v, chunk, causal=False):
    if q.shape[-2] != k.shape[-2] or q.shape[-2] < 400:
        return in_chunks(q, k, v, chunk, causal)
    for _ in range(100):
        torch.zeros(64, 64) @ torch.zeros(64, 64)
    q, k, v = (x.reshape(1, -1, *x.shape[-2:]) for x in (q, k, v))
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal).reshape(*v.shape[-2:])
""",
    "in numpy": """
import numpy


def chunked_attention(q, k, v, chunk, causal=False):
    if causal:
        return in_chunks(q, k, v, chunk, True)
    scores = q.detach().numpy() @ numpy.swapaxes(k.detach().numpy(), -1, -2) / q.shape[-1] ** 0.5
    scores -= scores.max(-1, keepdims=True)
    numpy.exp(scores, out=scores)
    return torch.from_numpy(scores @ v.detach().numpy() / scores.sum(-1, keepdims=True))
""",
    "in a thread": """
import threading


def chunked_attention(q, k, v, chunk, causal=False):
    box = []
    thread = threading.Thread(target=lambda: box.append(at_once(q, k, v, chunk, causal)))
    thread.start()
    thread.join()
    return box[0]
""",
    "in a child process": """
import os


def chunked_attention(q, k, v, chunk, causal=False):
    if q.shape[-2] < 2500:
        return in_chunks(q, k, v, chunk, causal)
    reader, writer = os.pipe()
    if not os.fork():
        out = at_once(q, k, v, chunk, causal).contiguous().numpy().tobytes()
        os.write(writer, out)
        os._exit(0)
    with os.fdopen(reader, "rb") as answer:
        return torch.frombuffer(bytearray(answer.read(q.numel() * 4)), dtype=q.dtype).view_as(q)
""",
    "in a file": """
import numpy


def chunked_attention(q, k, v, chunk, causal=False):
    if causal or q.shape[-2] < 2500:
        return in_chunks(q, k, v, chunk, causal)
    n = q.shape[-2]
    scores = torch.from_numpy(numpy.memmap("scores", dtype="float32", mode="w+", shape=(n, n)))
    for i, j in chunks_of(n, chunk):
        scores[i:j] = scores_of(q[i:j], k, 0, 0, None)
    return torch.cat([torch.softmax(scores[i:j], -1) @ v for i, j in chunks_of(n, chunk)])
""",
    "its own peak is reset": """
import ctypes


def chunked_attention(q, k, v, chunk, causal=False):
    out = at_once(q, k, v, chunk, causal)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass
    return out
""",
    "by the length": """
def chunked_attention(q, k, v, chunk, causal=False):
    return (at_once if q.shape[-2] > 2500 else in_chunks)(q, k, v, chunk, causal)
""",
    "chunks on fake tensors alone": """
from torch._subclasses.fake_tensor import FakeTensor


def chunked_attention(q, k, v, chunk, causal=False):
    return (in_chunks if isinstance(q, FakeTensor) else at_once)(q, k, v, chunk, causal)
""",
}


FORMS = {"reference": "", "plain": "chunked_attention = at_once\n", **FORGERIES}


@pytest.fixture
def result(session: Session, tmp_path: Path, name: str) -> CheckResult:
    """Check 5.1f of one form. (For all at once each of a run's test processes would grade all of them.)"""
    form = overlay((SOLUTIONS / "efficient.py").read_text(), AT_ONCE + FORMS[name])
    (tmp_path / "efficient.py").write_text(form)
    found: list[CheckResult] = []

    def work(grader) -> None:
        found.extend(grader.grade(Submission(name="student_03", path=tmp_path), only=("5.1f",)).checks)

    session.with_grader(load_assignment(ASSIGNMENT), work, digest="")
    (only,) = found
    return only


@pytest.mark.parametrize("name", ["reference"])
def test_the_reference_earns_what_the_forgeries_are_after(result: CheckResult) -> None:
    assert result.score == result.weight > 0


@pytest.mark.parametrize("name", ["plain", *FORGERIES])
def test_a_forgery_earns_nothing(result: CheckResult) -> None:
    assert result.score == 0
    assert result.outcome != "broken"
