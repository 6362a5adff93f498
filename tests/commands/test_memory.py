"""`softmark memory`: a table, exponents for machines, a picture, and sentences where there is nothing to measure."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
import torch

from autograder.assignment.assignment import load_assignment
from autograder.commands import memory
from autograder.commands.memory import growth_of, growth_on_card
from autograder.errors import SoftmarkError
from autograder.report.memory_growth import Card, Curve, MemoryGrowth, Peak, as_text, draw
from autograder.sandbox.on_card import Form, OnCard, load_function, prepared
from autograder.worker.meters.card import CardRun, run_on_card
from benchmarks.simulated_card import SimulatedCard

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


def test_on_a_card_submission_and_reference_are_linear_naive_is_a_square_and_a_full_card_ends_a_curve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "CARD_CHUNK", 128)
    monkeypatch.setattr("autograder.testing.memory.TRIPLES", ((2, 3, 4), (4, 6, 8)))
    (tmp_path / "efficient.py").write_bytes((ROOT / "solutions" / "08_transformers" / "efficient.py").read_bytes())

    room = {False: 64 * MEBIBYTE, True: 40 * MEBIBYTE}

    def runs(form: Form, lengths: Sequence[int]) -> list[CardRun]:
        found: list[CardRun] = []
        for n in lengths:
            with contextlib.suppress(torch.cuda.OutOfMemoryError), SimulatedCard(capacity=room[form.training]):
                source = load_function(form.folder, form.module, form.function)
                found.append(run_on_card(prepared(source, form, n), n, form.device))
        return found

    card = Card("a simulated card", "1", "2.13.0", "2026-01-01T00:00:00+00:00")
    assignment = load_assignment(ASSIGNMENT)
    report = growth_on_card(assignment, tmp_path, "chunked_attention", runs, card, device="cpu")
    found = {(curve.name, curve.training): curve for curve in report.curves}
    assert found["submission", False].bytes_a_pair == found["reference", False].bytes_a_pair == 0
    assert found["naive", False].bytes_a_pair == pytest.approx(12.0, abs=0.1)
    assert found["naive", True].bytes_a_pair is None
    text = as_text(report)
    assert (
        "outside the sandbox" in text and "the card is full" in text and "n²: 12.0 B a pair" in text and " ms" in text
    )
    assert msgspec.json.decode(msgspec.json.encode(report))["card"]["name"] == "a simulated card"


def test_a_process_measures_and_what_the_code_raises_there_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("import os\ndef f(q):\n    os._exit(3)\ndef g(q):\n    raise ValueError('odd')\n")
    for function, sentence in (("g", "g failed on the GPU at n = 64: ValueError: odd"), ("f", "ended the process")):
        form = Form(str(tmp_path), "one", function, ("q",), False, 8, 16, device="cpu")
        with OnCard() as process, pytest.raises(SoftmarkError, match=sentence):
            process.runs(form, [64])


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_a_sentence_says_so() -> None:
    with pytest.raises(SoftmarkError, match="finds no GPU here: leave out --device cuda"):
        memory.memory_command(
            ASSIGNMENT, ROOT / "starter_code" / "08_transformers", "chunked_attention", None, "cuda", False
        )
