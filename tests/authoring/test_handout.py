"""The handout of assignment 08: figures are what the drawings draw, and numbers are those that were measured."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ASSIGNMENT = Path(__file__).resolve().parents[2] / "assignments" / "08_transformers"
FIGURES = ASSIGNMENT / "figures"
HANDOUT = (ASSIGNMENT / "handout.md").read_text(encoding="utf-8")


def draw(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What `make figures` runs; matplotlib keeps what it keeps in `folder`."""
    command = [sys.executable, "-B", str(ASSIGNMENT / "drawings"), *arguments]
    kept = {**os.environ, "MPLCONFIGDIR": str(folder / "matplotlib")}
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, env=kept)


def test_no_figure_is_stale(tmp_path: Path) -> None:
    found = draw(tmp_path, "--check")
    assert (found.returncode, found.stdout) == (0, "")


def test_drawn_anew_the_figures_are_the_same(tmp_path: Path) -> None:
    """To the byte where matplotlib is the one that drew them; else in what is written in them."""
    assert draw(tmp_path, "--out", str(tmp_path / "drawn")).returncode == 0
    there, drawn = (
        {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*")}
        for folder in (FIGURES, tmp_path / "drawn")
    )
    assert there.keys() == drawn.keys()
    for name in there:
        made_by, texts = (re.findall(pattern, there[name]) for pattern in ("Matplotlib v[^,]*", "<text[^>]*>([^<]*)<"))
        assert texts
        assert re.findall("<text[^>]*>([^<]*)<", drawn[name]) == texts
        if re.findall("Matplotlib v[^,]*", drawn[name]) == made_by:
            assert drawn[name] == there[name]


def test_every_figure_is_shown_once_and_described_in_words() -> None:
    shown = re.findall(r"!\[([^\]]+)\]\(figures/(\w+\.svg)\)", HANDOUT)
    assert sorted(name for _, name in shown) == sorted(path.name for path in FIGURES.glob("*"))
    assert all(len(words) > 40 for words, _ in shown)


@pytest.mark.parametrize(
    ("row", "arm"),
    [
        ("none", "none"),
        ("none, causal", "none_causal"),
        ("sinusoidal", "sinusoidal"),
        ("learned", "learned"),
        ("RoPE", "rope"),
    ],
)
def test_the_table_of_accuracies_is_what_ten_seeds_gave(row: str, arm: str) -> None:
    measured = json.loads((ASSIGNMENT / "given" / "measured.json").read_text())
    order, said = measured["order"], re.search(rf"^\| {row} \| ([^a-z]*) \|$", HANDOUT, re.MULTILINE)
    assert said, f"the handout's table has no row '{row}'"
    means = [order[arm]["accuracy"]["mean"][order["lengths"].index(length)] for length in (16, 24, 32, 64)]
    assert [float(cell) for cell in said[1].split("|")] == [round(mean, 2) for mean in means]
    assert measured["seeds"] == 10


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (r"a convolution needs ([\d,]+) samples", "convolution"),
        (r"attention with RoPE ([\d,]+),", "attention, RoPE"),
        (r"a dense layer ([\d,]+),", "dense"),
        (r"attention with a learned code ([\d,]+) \(", "attention, learned code"),
    ],
)
def test_so_many_samples_gave_95_percent(said: str, kind: str) -> None:
    samples = json.loads((ASSIGNMENT / "given" / "measured.json").read_text())["samples"]
    found = re.search(said, HANDOUT)
    assert found
    enough = next(n for n, mean in zip(samples["counts"], samples[kind]["mean"], strict=True) if mean >= 0.95)
    assert int(found[1].replace(",", "")) == enough
