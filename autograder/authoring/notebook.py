"""`notebook.py`, a script in jupytext's percent format -> the notebook that students open.

The same source gives the same bytes: cells are numbered instead of named at random, and there are no outputs. Needs
jupytext, which is optional (`pip install softmark[notebook]`). It runs nothing.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from autograder.errors import SoftmarkError

SOURCE = "notebook.py"
MADE = "notebook.ipynb"
_METADATA: dict[str, Any] = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def as_notebook(source: str, path: Path) -> bytes:
    """The notebook of a script: a cell for each `# %%`, text for each `# %% [markdown]`.

    Args:
        source: the script. Lines such as `# %autoreload 2` become commands to IPython.
        path: for the error sentences.

    Raises:
        SoftmarkError: jupytext is not installed, or the script has no cell.
    """
    try:
        jupytext: Any = importlib.import_module("jupytext")
        nbformat: Any = importlib.import_module("nbformat")
    except ImportError:
        raise SoftmarkError(f"{path} needs jupytext to become a notebook: pip install 'softmark[notebook]'.") from None
    if not any(line.startswith("# %%") for line in source.splitlines()):
        raise SoftmarkError(f"{path} has no cell: begin each with a line '# %%', or '# %% [markdown]' for text.")
    found: Any = jupytext.reads(source, fmt="py:percent")
    new: Any = nbformat.v4
    cells: list[Any] = []
    for number, cell in enumerate(found.cells, start=1):
        make = new.new_markdown_cell if cell.cell_type == "markdown" else new.new_code_cell
        cells.append(make(cell.source, id=f"cell-{number:02}"))
    made = new.new_notebook(cells=cells, metadata=_METADATA)
    made.nbformat_minor = 5  # the first version with ids
    return (nbformat.writes(made) + "\n").encode()
