"""Memory of the reference and of the naive form by all meters, side by side: `python -m benchmarks.memory`.

The allocation model, the kernel's account of a worker and, with `--device cuda`, the GPU's own allocator (and how many
times the model's bytes that is: 0.9 to 1.1 is expected) and driver. A few rows of `make bench` come from here, too.
"""

from __future__ import annotations

import argparse
import inspect
import math
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from autograder.sandbox.connection import Connection, Limits, wait_ready
from autograder.sandbox.launch import ForkServer
from autograder.worker.loader import Loader
from autograder.worker.meters.measuring import measure
from autograder.worker.protocol.messages import Call, Load, Measure, Measured, Returned, Target, Vjp
from benchmarks.device import peak_on_device
from benchmarks.measure import Row, median_ms

SOLUTIONS = Path(__file__).resolve().parents[1] / "solutions" / "08_transformers"
MIB = 1 << 20
WIDTH, CHUNK = 64, 256
TIMES_SDPA, PART_OF_NAIVE = 3.0, 0.05


def naive(q: Tensor, k: Tensor, v: Tensor, chunk: int = 0) -> Tensor:
    """All n x n scores at once."""
    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), -1) @ v


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


def by_device(function: Callable[..., Any], n: int, grad: bool, device: str) -> tuple[int, int]:
    """Peak bytes by the GPU's allocator, and what the driver gave out."""

    def call(length: int) -> Callable[[], object]:
        tensors = [torch.randn(1, 1, length, WIDTH, device=device, requires_grad=grad) for _ in range(3)]
        cotangent = torch.ones(1, 1, length, WIDTH, device=device)

        def carried_out() -> object:
            with torch.set_grad_enabled(grad):
                result = function(*tensors, CHUNK)
                return torch.autograd.grad(result, tensors, cotangent) if grad else result

        return carried_out

    peak = peak_on_device(call(n), call(n), device)
    return peak.allocated, peak.driver


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--lengths", type=int, nargs="+", default=[2048, 4096])
    asked = parser.parse_args()
    if asked.device == "cuda" and not torch.cuda.is_available():
        parser.error("there is no GPU here that torch can use: leave out --device cuda for the other two meters")
    with ForkServer.launch() as server, tempfile.TemporaryDirectory(prefix="softmark-") as top:
        wait_ready(server)
        folder = Path(top)
        folder.chmod(0o755)
        (folder / "measured.py").write_text((SOLUTIONS / "efficient.py").read_text() + inspect.getsource(naive))
        module = Loader(folder, ["measured"]).load("measured")
        titles = ("form", "n", "model", "kernel", "GPU", "driver", "GPU/model")
        print(
            "MiB above the inputs\n"
            + "".join(f"{title:>28}" if i == 0 else f"{title:>10}" for i, title in enumerate(titles))
        )
        for name in ("chunked_attention", "flash_attention", "naive"):
            for grad in (False, True):
                for n in asked.lengths:
                    function = getattr(module, name)
                    figures: list[int | None] = [by_model(function, n, grad), by_kernel(server, folder, name, n, grad)]
                    figures += by_device(function, n, grad, asked.device) if asked.device == "cuda" else (None, None)
                    cells = "".join(f"{'-' if each is None else format(each / MIB, ',.1f'):>10}" for each in figures)
                    model, _, by_gpu, _ = figures
                    ratio = "-" if by_gpu is None or not model else f"{by_gpu / model:.2f}"
                    print(f"{name + (', training' if grad else ''):>28}{n:>10,}{cells}{ratio:>10}", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
