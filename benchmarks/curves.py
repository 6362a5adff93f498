"""The curves that the notebook of assignment 08 draws behind a student's own: ten seeds of each experiment, measured.

Accuracy by length and loss by step of every arm of part 6, with the reference's `train` and `accuracy`, and accuracy by
number of samples of every kind of neighbour. `python -m benchmarks.curves 10` takes a quarter of an hour and writes
`given/measured.json` of the assignment anew. It judges nothing.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

from benchmarks.order import SOLUTIONS, reference

GIVEN = SOLUTIONS.parents[1] / "assignments" / "08_transformers" / "given"
LENGTHS = (4, 6, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64)
SAMPLES = (32, 64, 128, 256, 512, 1024, 2048, 4096)
EVERY = 5


def order(part: ModuleType, arm: tuple[str, bool], seeds: int) -> dict[str, Any]:
    """Accuracy at each of LENGTHS, and the loss at every fifth step, averaged over the five; a row for each seed."""
    accuracies: list[list[float]] = []
    losses: list[list[float]] = []
    for seed in range(seeds):
        said: list[float] = []
        part.show_progress = lambda step, steps, loss, said=said: said.append(loss)
        model = part.OrderModel(*arm)
        model.load_state_dict(part.train(*arm, seed=seed))
        accuracies.append([round(part.accuracy(model, n), 3) for n in LENGTHS])
        losses.append([round(sum(said[i : i + EVERY]) / EVERY, 4) for i in range(0, len(said), EVERY)])
    return {"accuracy": spread(accuracies), "loss": spread(losses)}


def spread(rows: Sequence[Sequence[float]]) -> dict[str, list[float]]:
    """Mean, least and greatest of each column."""
    columns = list(zip(*rows, strict=True))
    return {
        "mean": [round(sum(column) / len(column), 4) for column in columns],
        "least": [min(column) for column in columns],
        "greatest": [max(column) for column in columns],
    }


def main(seeds: int, file: Path) -> None:
    """Measure everything and write it to `file`."""
    part = reference()
    sys.path[:0] = [str(SOLUTIONS), str(GIVEN.parent)]
    efficiency = importlib.import_module("given.data_efficiency")
    arms = {**part.ARMS, "rope_causal": ("rope", True)}
    samples = {
        kind: spread([[efficiency.accuracy_after(kind, n, seed) for n in SAMPLES] for seed in range(seeds)])
        for kind in efficiency.KINDS
    }
    measured = {
        "seeds": seeds,
        "order": {"lengths": LENGTHS, "every": EVERY, **{arm: order(part, arms[arm], seeds) for arm in arms}},
        "samples": {"counts": SAMPLES, **samples},
    }
    write(measured, file)


def write(measured: dict[str, Any], file: Path) -> None:
    """As JSON, a row of numbers in a line."""
    text = re.sub(r"\[[^][{}]*\]", lambda row: " ".join(row[0].split()), json.dumps(measured, indent=1))
    file.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10, GIVEN / "measured.json")
