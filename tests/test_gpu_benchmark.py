"""The script that prints three meters side by side, on a simulated card: it runs, and model and card agree."""

from __future__ import annotations

import pytest

from benchmarks import gpu


def test_model_and_simulated_card_add_the_same_from_one_length_to_the_next(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["gpu", "--simulated", "--lengths", "512", "1024"])
    monkeypatch.setattr(gpu, "FORMS", ("chunked_attention", "naive"))
    gpu.main()
    first, _, *rows = capsys.readouterr().out.splitlines()
    assert "nothing here was measured on a GPU" in first
    assert len(rows) == 8 and not any("differs" in row for row in rows)
    naive = next(row.split() for row in rows if row.split()[:2] == ["naive", "1,024"])
    assert naive[2] == "8.00" and naive[-1] == "1.000"
    assert naive[3] == "-" or float(naive[3]) == pytest.approx(8.0, rel=0.25)
