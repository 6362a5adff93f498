"""How far part 6's thresholds stand from what training gives, seed by seed: each arm trained anew, each time.

Accuracies are those of the checks: sequences in pairs, A and B exchanged. Ten seeds take some minutes, so that part is
asked for by itself: `python -m benchmarks.order 10`. It judges no submission and writes no weights.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

from autograder.testing.cases import Cases
from autograder.testing.order import accuracy_of
from benchmarks.measure import Row, print_table

SOLUTIONS = Path(__file__).resolve().parents[1] / "solutions" / "08_transformers"
LENGTHS = (16, 24, 32, 64)
PAIRS = 200


def rows(seeds: int = 1) -> list[Row]:
    """The least favourable accuracy of each threshold over so many seeds, and the means by length."""
    part = reference()
    found = {arm: [accuracies(part, arm, seed) for seed in range(seeds)] for arm in part.ARMS}
    table = [
        _least(f"{arm}: accuracy at trained lengths", (each["trained"] for each in found[arm]), 0.95)
        for arm in part.ARMS
        if arm != "none"
    ]
    off = max(abs(each["trained"] - 0.5) for each in found["none"])
    table.append(Row(f"none: farthest from one half, {seeds} seeds", f"{off:.3f}", "at most 0.02", off <= 0.02))
    for arm in ("sinusoidal", "learned"):
        gaps = (rope["32"] - each["32"] for rope, each in zip(found["rope"], found[arm], strict=True))
        table.append(_least(f"rope ahead of {arm} at length 32", gaps, 0.15))
    for arm, runs in found.items():
        means = " ".join(f"{sum(run[str(n)] for run in runs) / seeds:.2f}" for n in LENGTHS)
        table.append(Row(f"{arm}: mean accuracy at {', '.join(map(str, LENGTHS))}", means, "reported", True))
    return table


def accuracies(part: ModuleType, arm: str, seed: int) -> dict[str, float]:
    """One arm, trained from one seed: its accuracy over the trained lengths, and at each of LENGTHS."""
    position, causal = part.ARMS[arm]
    model: Any = part.OrderModel(position, causal)
    model.load_state_dict(part.train(position, causal, seed=seed))
    cases = Cases(b"benchmark", f"{arm} {seed}")
    with torch.no_grad():
        found = {str(n): accuracy_of(model, cases, (n,), PAIRS) for n in LENGTHS}
        return {**found, "trained": accuracy_of(model, cases, part.TRAINED_LENGTHS, 40)}


def reference() -> ModuleType:
    """The reference's part 6, silenced."""
    sys.path.insert(0, str(SOLUTIONS))  # it imports part 3
    try:
        spec = importlib.util.spec_from_file_location("solution_experiments", SOLUTIONS / "experiments.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(SOLUTIONS))
    module.show_progress = lambda *_: None  # pyright: ignore[reportAttributeAccessIssue]
    return module


def _least(what: str, figures: Iterable[float], limit: float) -> Row:
    least = min(figures)
    return Row(f"{what}, least", f"{least:.3f}", f"at least {limit}", least >= limit)


if __name__ == "__main__":
    torch.set_num_threads(1)
    measured = rows(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    print_table(measured)
    sys.exit(0 if all(row.holds for row in measured) else 1)
