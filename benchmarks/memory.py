"""Memory of chunked attention: rows of `make bench`, and the two meters that need no GPU."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from autograder.sandbox.connection import Connection, Limits
from autograder.sandbox.launch import ForkServer
from autograder.worker.loader import Loader
from autograder.worker.meters.measuring import measure
from autograder.worker.protocol.messages import Call, Load, Measure, Measured, Returned, Target, Vjp
from benchmarks.measure import Row, median_ms

SOLUTIONS = Path(__file__).resolve().parents[1] / "solutions" / "08_transformers"
MIB = 1 << 20
WIDTH, CHUNK = 64, 256
TIMES_SDPA, PART_OF_NAIVE = 3.0, 0.05


def naive(q: Tensor, k: Tensor, v: Tensor, chunk: int = 0) -> Tensor:
    """All n x n scores at once."""
    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), -1) @ v


def checkpointed(q: Tensor, k: Tensor, v: Tensor, chunk: int = 0) -> Tensor:
    """All n x n scores at once, and again in the backward pass in place of kept."""
    import torch.utils.checkpoint

    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), -1) @ v

    return torch.utils.checkpoint.checkpoint(attend, q, k, v, use_reentrant=False)


def library(q: Tensor, k: Tensor, v: Tensor, chunk: int = 0) -> Tensor:
    """torch's own."""
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)


def rows() -> list[Row]:
    """Chunked forward at n = 4,096: time against the library's attention, peak bytes against the naive form's."""
    chunked = Loader(SOLUTIONS, ["efficient"]).load("efficient").chunked_attention
    q, k, v = (torch.randn(1, 1, 4096, WIDTH) for _ in range(3))
    with torch.no_grad():
        library = median_ms(lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v), 5, 1)
        ours = median_ms(lambda: chunked(q, k, v, 512), 5, 1)
    ratio = ours / library
    part = by_model(chunked, 4096, False) / by_model(naive, 4096, False)
    return [
        Row("chunked attention, n = 4,096 / library attention", f"{ratio:.1f} x", f"<= {TIMES_SDPA:g} x", ratio <= 3.0),
        Row("its peak / that of naive attention", f"{100 * part:.1f} %", "<= 5 %", part <= PART_OF_NAIVE),
    ]


def by_model(function: Callable[..., Any], n: int, grad: bool, device: str = "cpu") -> int:
    """Peak bytes by the allocation model."""
    tensors = tuple((index, (1, 1, n, WIDTH), torch.float32) for index in range(3))
    found = measure(function, Measure(Target(""), (None, None, None, CHUNK), tensors, grad=grad, device=device), "")
    assert isinstance(found, Measured)
    return found.peak


def by_kernel(server: ForkServer, folder: Path, name: str, n: int, grad: bool) -> int | None:
    """Growth of a worker's resident set; None where nobody keeps the account."""
    with Connection(server) as connection:
        worker = connection.spawn(folder, ["measured"], Limits(memory_bytes=2 << 30))
        limits = {"cpu_seconds": 120.0, "wall_seconds": 600.0}
        worker.request(Load("measured"), **limits)
        target = Target(name, "measured")
        account = None
        for length in (64, 64, n):
            q, k, v = (torch.randn(1, 1, length, WIDTH) for _ in range(3))
            message = Vjp(target, (q, k, v, CHUNK), {}, (q,)) if grad else Call(target, (q, k, v, CHUNK))
            reply, account = worker.weigh(message, **limits)
            assert isinstance(reply, Returned) or grad, reply
        worker.close()
        connection.settle()
    return None if account is None else account.growth


def forms_in(folder: Path) -> Any:
    """The module `measured`, written to `folder`: part 5's reference, and the forms that it is compared with."""
    folder.chmod(0o755)
    others = "\n".join(inspect.getsource(form) for form in (naive, checkpointed, library))
    (folder / "measured.py").write_text(f"{(SOLUTIONS / 'efficient.py').read_text()}\n{others}")
    return Loader(folder, ["measured"]).load("measured")
