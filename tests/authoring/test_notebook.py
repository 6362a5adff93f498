"""The notebook runs from top to bottom on the reference, and on the starter it says what is to be written instead."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest
import torch
from nbclient import NotebookClient

from autograder.authoring.notebook import as_notebook
from autograder.errors import SoftmarkError

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENT = ROOT / "assignments" / "08_transformers"
SOLUTIONS = ROOT / "solutions" / "08_transformers"
STARTER = ROOT / "starter_code" / "08_transformers"


@pytest.fixture
def kernel_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever Jupyter, IPython and matplotlib write goes to a folder of the test's own."""
    for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR", "MPLCONFIGDIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.delenv("MPLBACKEND", raising=False)


def run_in(folder: Path) -> list[Any]:
    """The steps of the notebook, carried out in `folder`: its cells with a `with step(`."""
    notebook = nbformat.reads((folder / "notebook.ipynb").read_text(encoding="utf-8"), as_version=4)
    NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    steps = [cell for cell in notebook.cells if cell.cell_type == "code" and "with step(" in cell.source]
    [on_a_gpu] = [cell for cell in steps if "ON_A_GPU" in cell.source]
    [text] = outputs(on_a_gpu, "text/markdown")
    assert torch.cuda.is_available() or ("This needs a GPU" in text and "*On a GPU. " in text)
    steps.remove(on_a_gpu)
    assert len(steps) == 15
    return steps


def outputs(cell: Any, kind: str) -> list[str]:
    """What the cell showed of one kind, such as `text/markdown`."""
    return [output.data[kind] for output in cell.outputs if kind in output.get("data", {})]


@pytest.mark.timeout(1500)
@pytest.mark.usefixtures("kernel_leaves_nothing")
def test_on_the_reference_every_step_is_a_picture_with_a_caption(tmp_path: Path) -> None:
    folder = tmp_path / "reference"
    shutil.copytree(STARTER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for path in [*SOLUTIONS.glob("*.py"), *SOLUTIONS.glob("*.safetensors")]:
        shutil.copy(path, folder)
    for number, cell in enumerate(run_in(folder), start=1):
        assert len(outputs(cell, "image/png")) == 1, f"figure {number}"
        [caption] = outputs(cell, "text/markdown")
        assert caption.startswith(f"*Figure {number}. "), caption


@pytest.mark.timeout(600)
@pytest.mark.usefixtures("kernel_leaves_nothing")
def test_on_the_starter_every_step_says_what_to_write(tmp_path: Path) -> None:
    folder = tmp_path / "starter"
    shutil.copytree(STARTER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    said = []
    for number, cell in enumerate(run_in(folder), start=1):
        assert not outputs(cell, "image/png")
        [text] = outputs(cell, "text/markdown")
        assert text.startswith("**Not yet.** "), text
        assert f"*Figure {number}. " in text
        said.append(text)
    assert "`train_bpe` in `tokens.py`" in said[0]
    assert "Exercise 1.1 (train_bpe) of the handout" in said[0]
    assert "`MultiHeadAttention` in `attention.py`" in said[4]
    assert "Exercise 4.7" in said[9]
    assert sum("of the handout" in text or "(handout" in text for text in said) == len(said)


@pytest.fixture
def step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel_leaves_nothing: None) -> ModuleType:
    """The notebook's `step` in a folder of its own, whose part has a bug; what it shows is kept in `shown`."""
    module = loaded(ASSIGNMENT / "given" / "step.py")
    (tmp_path / "attention.py").write_text(
        'def softmax(x):\n    """Scores to probabilities."""\n    raise NotImplementedError\n\n\n'
        "def attend(x):\n    return softmax(x)\n\n\ndef broken(x):\n    return x[7]\n"
    )
    (tmp_path / "README.md").write_text("### 2.1 softmax (2 points)\n\n`softmax(x)` makes probabilities.\n")
    shown: list[Any] = []
    monkeypatch.setattr(module, "HERE", tmp_path)
    monkeypatch.setattr(module, "display", shown.append)
    module.__dict__["shown"] = shown
    return module


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"of_a_test_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_innermost_missing_function_is_named_and_the_caption_tells_no_more_than_its_title(
    step: ModuleType, tmp_path: Path
) -> None:
    attention = loaded(tmp_path / "attention.py")
    with step.step("Figure 1. The title. The answer."):
        attention.attend([1.0])
    [shown] = step.shown
    assert shown.data == (
        "**Not yet.** This needs `softmax` in `attention.py`: *Scores to probabilities.* Exercise 2.1 (softmax) of the "
        "handout asks for it. Write it, save the file, and run this cell again.\n\n"
        "You will then see: *Figure 1. The title.*"
    )


def test_a_bug_is_shown_as_it_is(step: ModuleType, tmp_path: Path) -> None:
    attention = loaded(tmp_path / "attention.py")
    with pytest.raises(IndexError), step.step("Figure 1. The title. The answer."):
        attention.broken([])
    assert step.shown == []


def test_the_same_script_gives_the_same_notebook_and_its_text_stays_text() -> None:
    script = "# %% [markdown]\n# # A title\n#\n# and *more*\n\n# %%\n# %autoreload 2\nx = 1\n"
    made = as_notebook(script, Path("notebook.py"))
    assert made == as_notebook(script, Path("notebook.py"))
    notebook = nbformat.reads(made.decode(), as_version=4)
    nbformat.validate(notebook)
    assert [(cell.cell_type, cell.source) for cell in notebook.cells] == [
        ("markdown", "# A title\n\nand *more*"),
        ("code", "%autoreload 2\nx = 1"),
    ]


def test_a_script_without_cells_is_refused() -> None:
    with pytest.raises(SoftmarkError, match=r"notebook\.py has no cell: begin each with a line '# %%'"):
        as_notebook("x = 1\n", Path("notebook.py"))
