"""`softmark memory`: a table, exponents for machines, a picture, and sentences where there is nothing to measure."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from autograder.assignment.assignment import load_assignment
from autograder.commands import memory
from autograder.commands.memory import growth_of
from autograder.errors import SoftmarkError
from autograder.report.memory_growth import Curve, MemoryGrowth, Peak, as_text, draw

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENT = ROOT / "assignments" / "08_transformers"
MEBIBYTE = 1 << 20

REPORT = MemoryGrowth(
    "student_03",
    "flash_attention",
    (
        Curve("submission", False, (Peak(1024, MEBIBYTE), Peak(2048, 4 * MEBIBYTE, 2.0))),
        Curve("reference", False, (Peak(1024, MEBIBYTE), Peak(2048, 2 * MEBIBYTE, 1.0))),
        Curve("naive", True, (Peak(1024, 8 * MEBIBYTE), Peak(65536, 32768 * MEBIBYTE, 2.0))),
    ),
)


def test_the_table_shows_lengths_mib_and_exponents() -> None:
    text = as_text(REPORT)
    assert "2,048         4.00 (2.00)         2.00 (1.00)" in text
    assert "65,536    32,768.00 (2.00)" in text
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_machines_find_the_exponent_by_that_name() -> None:
    curves = msgspec.json.decode(msgspec.json.encode(REPORT))["curves"]
    assert curves[0]["runs"][1]["exponent"] == 2.0


def test_the_picture_is_drawn_where_matplotlib_is_there(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    draw(REPORT, tmp_path / "memory.png")
    assert (tmp_path / "memory.png").read_bytes().startswith(b"\x89PNG")


def test_a_function_that_is_no_attention_is_refused_with_a_sentence() -> None:
    with pytest.raises(SoftmarkError, match="also takes x"):
        memory._arguments(lambda x, dim: x, "softmax")


def test_a_function_that_the_assignment_does_not_have_is_refused() -> None:
    with pytest.raises(SoftmarkError, match="has no function 'flash'"):
        growth_of(load_assignment(ASSIGNMENT), ROOT / "starter_code" / "08_transformers", "flash")


def test_the_reference_is_linear_and_naive_is_a_square(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(memory, "LENGTHS", (512, 1024))
    monkeypatch.setattr(memory, "NAIVE_LENGTHS", (32768, 65536))
    source = (ROOT / "solutions" / "08_transformers" / "efficient.py").read_bytes()
    (tmp_path / "efficient.py").write_bytes(source)
    report = growth_of(load_assignment(ASSIGNMENT), tmp_path, "flash_attention")
    last = {(curve.name, curve.training): curve.runs[-1].exponent for curve in report.curves}
    assert last["naive", False] == pytest.approx(2.0, abs=0.02)
    assert last["naive", True] == pytest.approx(2.0, abs=0.02)
    assert max(last["submission", False], last["submission", True]) <= 1.15
    assert last["reference", True] == last["submission", True]
