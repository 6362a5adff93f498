"""How far part 6's thresholds stand from what training gives, seed by seed: each arm trained anew, each time.

Every threshold that gives points is here, asked for as the checks ask: sequences in pairs, A and B exchanged, the
check's lengths and counts, the worst of several draws. Shown are the least, the mean and the most over the seeds. A
seed takes half a minute, ten take some minutes: `python -m benchmarks.order 10`. It judges no submission and writes no
weights.
"""

from __future__ import annotations

import importlib.util
import os
import statistics
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch

from autograder.testing.cases import Cases
from benchmarks.measure import Row, print_table
from benchmarks.position_formulas import ANGLES, CODES, FREQUENCIES, TURNS, Formula
from support.order import SAME_MODEL, accuracy_of, pairs

SOLUTIONS = Path(__file__).resolve().parents[1] / "solutions" / "08_transformers"
LENGTHS = (16, 24, 32, 64)
DRAWS = 6  # of the sequences of a check; the worst counts, since a student's key is one of many
IN_FLOAT32 = Formula(
    "in float32", FREQUENCIES["exp of log"], ANGLES["einsum"], CODES["slices"], TURNS["tables in the dtype of x"]
)
Run = dict[str, float]


def rows(seeds: int = 10) -> list[Row]:
    """The spread over so many seeds of what each threshold is about, and the means by length."""
    part = reference()
    runs = {arm: [run(part, arm, seed) for seed in range(seeds)] for arm in part.ARMS}
    sighted = [arm for arm in part.ARMS if arm != "none"]
    table = [_least(f"{arm}: accuracy at trained lengths", runs[arm], "trained", 0.93) for arm in sighted]
    table += [_least(f"{arm}: at 8, 12 and 16", runs[arm], "near", 0.9) for arm in ("sinusoidal", "learned", "rope")]
    table += [_least(f"rope: at length {n}", runs["rope"], str(n), 0.95) for n in (6, 13)]
    for arm in ("sinusoidal", "learned"):
        gaps = [{"gap": rope["32"] - each["32"]} for rope, each in zip(runs["rope"], runs[arm], strict=True)]
        table.append(_least(f"rope ahead of {arm} at length 32", gaps, "gap", 0.15))
    table.append(_most("none: accuracy's distance from one half", runs["none"], "off", 0.02))
    table.append(_most("none: logits moved by permuting tokens, of the largest", runs["none"], "permuted", 1e-4))
    table.append(_most("rope: logits moved by adding 1000, of the largest", runs["rope"], "shifted", SAME_MODEL))
    table += [
        _most(f"{arm}: logits moved by angles in float32, of the largest", runs[arm], "float32", SAME_MODEL)
        for arm in ("sinusoidal", "rope")
    ]
    for arm, each in runs.items():
        means = " ".join(f"{statistics.mean(found[str(n)] for found in each):.2f}" for n in LENGTHS)
        table.append(Row(f"{arm}: mean accuracy at {', '.join(map(str, LENGTHS))}", means, "reported", True))
    return table


@torch.no_grad()
def run(part: ModuleType, arm: str, seed: int) -> Run:
    """One arm, trained from one seed: what the checks measure of it, and its accuracy at each of LENGTHS."""
    position, causal = part.ARMS[arm]
    model: Any = part.OrderModel(position, causal)
    with torch.enable_grad():
        model.load_state_dict(part.train(position, causal, seed=seed))
    cases = Cases(b"benchmark", f"{arm} {seed}")
    found = {str(n): accuracy_of(model, cases, (n,), 300) for n in LENGTHS}

    def least(lengths: Sequence[int], count: int) -> float:
        return min(accuracy_of(model, cases, lengths, count) for _ in range(DRAWS))

    found |= {str(n): least((n,), 60) for n in (6, 13)}
    found |= {"trained": least(part.TRAINED_LENGTHS, 40), "near": least((8, 12, 16), 60)}
    tokens, _ = pairs(cases, 60, 13)
    before, far = model(tokens), torch.arange(13) + 1000
    if arm == "none":
        found["off"] = abs(accuracy_of(model, cases, (6, 11, 16), 60) - 0.5)
        found["permuted"] = _moved(before, model(tokens[:, cases.permutation(13)]))
    if arm == "rope":
        found["shifted"] = _moved(before, model(tokens, positions=far))
    if arm in ("sinusoidal", "rope"):
        places = far if arm == "rope" else torch.arange(13)
        with _angles_in_float32(part):
            found["float32"] = _moved(before, model(tokens, positions=places))
    return found


def _moved(before: torch.Tensor, after: torch.Tensor) -> float:
    return float((after - before).abs().max()) / max(1.0, float(before.abs().max()))


@contextmanager
def _angles_in_float32(part: Any) -> Iterator[None]:
    """The same model by a student whose part 3 holds angles in float32, which is legal."""
    own = part.sinusoidal, part.rope
    part.sinusoidal, part.rope = IN_FLOAT32.sinusoidal, IN_FLOAT32.rope
    try:
        yield
    finally:
        part.sinusoidal, part.rope = own


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


def _least(what: str, runs: Sequence[Run], name: str, limit: float) -> Row:
    found = [each[name] for each in runs]
    return Row(what, _spread(found), f"at least {limit:g}", min(found) >= limit)


def _most(what: str, runs: Sequence[Run], name: str, limit: float) -> Row:
    found = [each[name] for each in runs]
    return Row(what, _spread(found), f"at most {limit:g}", max(found) <= limit)


def _spread(found: Sequence[float]) -> str:
    return f"{min(found):.3g} .. {statistics.mean(found):.3g} .. {max(found):.3g} ({len(found)} seeds)"


if __name__ == "__main__":
    torch.set_num_threads(1)
    measured = rows(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
    print_table(measured)
    sys.exit(0 if all(row.holds for row in measured) else 1)
