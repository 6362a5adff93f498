"""Three meters of memory side by side, and time, in under 8 minutes: `python -m benchmarks.gpu`.

For chunked and flash attention of the reference, naive, checkpointed and torch's own attention, forward and training:
the allocation model, the kernel's account of a worker, and the card's allocator. A meter may differ from another by a
constant; so the last column compares how much each adds from the shorter to the longer length. Without a GPU a
simulated card takes its place, which shows that the script works, and nothing about a card.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import tempfile
import time
from pathlib import Path

import torch

from autograder.sandbox.connection import wait_ready
from autograder.sandbox.launch import ForkServer
from autograder.sandbox.on_card import Form, prepared
from autograder.worker.meters.card import CardRun, run_on_card
from benchmarks.memory import CHUNK, MIB, WIDTH, by_kernel, by_model, forms_in
from benchmarks.simulated_card import SimulatedCard

FORMS = ("chunked_attention", "flash_attention", "naive", "checkpointed", "library")
ON_A_CARD, SIMULATED = (4096, 8192), (512, 1024)
MOST_SECONDS = 480
AGREES = 0.05


def on_card(module: object, name: str, n: int, training: bool, simulated: bool) -> CardRun | None:
    """One run by the card's allocator; None where its memory does not suffice."""
    form = Form("", "", name, ("q", "k", "v", "chunk"), training, WIDTH, CHUNK, "cpu" if simulated else "cuda")
    try:
        with SimulatedCard() if simulated else contextlib.nullcontext():
            return run_on_card(prepared(getattr(module, name), form, n), n, form.device)
    except torch.cuda.OutOfMemoryError:
        return None


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulated", action="store_true", help="a simulated card, even where there is a real one")
    parser.add_argument("--lengths", type=int, nargs=2, help="two lengths; the second one is the longer")
    asked = parser.parse_args()
    simulated = asked.simulated or not torch.cuda.is_available()
    lengths = tuple(asked.lengths or (SIMULATED if simulated else ON_A_CARD))
    where = "a simulated card: nothing here was measured on a GPU" if simulated else torch.cuda.get_device_name()
    print(f"{where}; torch {torch.__version__}; MiB above the inputs, float32, (1, 1, n, {WIDTH}), chunks of {CHUNK}")
    titles = ("n", "model", "kernel", "card", "blocks", "driver", "ms", "card/model")
    print(f"{'form':>28}" + "".join(f"{title:>11}" for title in titles))
    start = time.monotonic()
    with ForkServer.launch() as server, tempfile.TemporaryDirectory(prefix="softmark-") as top:
        wait_ready(server)
        module = forms_in(Path(top))
        for name in FORMS:
            for training in (False, True):
                if time.monotonic() - start > MOST_SECONDS:
                    print(f"{name}: not measured, {MOST_SECONDS} seconds are over")
                    continue
                seen: list[tuple[int, int]] = []
                for n in lengths:
                    model = by_model(getattr(module, name), n, training)
                    kernel = by_kernel(server, Path(top), name, n, training)
                    run = on_card(module, name, n, training, simulated)
                    seen += [] if run is None else [(model, run.requested)]
                    title = name + (", training" if training else "")
                    print(f"{title:>28}{n:>11,}" + _cells(model, kernel, run) + _agreement(seen), flush=True)


def _cells(model: int, kernel: int | None, run: CardRun | None) -> str:
    sizes = (model, kernel, *((None,) * 3 if run is None else (run.requested, run.allocated, run.driver)))
    cells = "".join(f"{'-' if size is None else format(size / MIB, ',.2f'):>11}" for size in sizes)
    return cells + f"{'full' if run is None else format(1000 * run.seconds, ',.1f'):>11}"


def _agreement(seen: list[tuple[int, int]]) -> str:
    """What the card adds between two lengths over what the model adds, and a mark where they do not agree."""
    if len(seen) < 2 or seen[1][0] == seen[0][0]:
        return f"{'':>11}"
    ratio = (seen[1][1] - seen[0][1]) / (seen[1][0] - seen[0][0])
    return f"{ratio:>11.3f}" + ("" if abs(ratio - 1) <= AGREES else "  differs")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
