"""The script that prints the meters side by side: a row for each form, and a sentence where there is no GPU."""

from __future__ import annotations

import pytest
import torch

from benchmarks import memory


def test_each_form_has_a_row_in_which_model_and_kernel_agree_on_naive_attention(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["memory", "--lengths", "1024"])
    memory.main()
    rows = [line.rsplit(maxsplit=6) for line in capsys.readouterr().out.splitlines()[2:]]
    found = {name.strip(): (float(model), kernel) for name, _, model, kernel, *_ in rows}
    assert len(found) == 6
    model, kernel = found["naive"]
    assert model == 8.0
    assert kernel == "-" or float(kernel) == pytest.approx(model, rel=0.25)
    assert found["flash_attention, training"][0] < 3


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["memory", "--device", "cuda"])
    with pytest.raises(SystemExit) as ended:
        memory.main()
    assert ended.value.code == 2
    assert "there is no GPU here" in capsys.readouterr().err
