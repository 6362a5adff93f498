"""`%check` in a notebook: what cells define on top of the files, in a kernel that really runs."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.commands.notebook import check_cells
from autograder.errors import SoftmarkError
from tests.commands.test_check import RIGHT, starter

ROOT = Path(__file__).parent.parent.parent
STUB = "def double(x):\n    raise NotImplementedError\n"
WRONG = "def double(x):\n    return 3 * x\n"
MATRIX = """
@number("1.1")
@weight(2)
def test_doubles(student, reference, cases):
    \"\"\"Doubling gives twice the number\"\"\"
    from autograder.testing.numbers import assert_close
    x = cases.tensor(3, 4)
    assert_close(student.double(x), reference.double(x), "doubled", within=1e-4)
"""


def test_the_last_definition_in_the_notebook_holds_and_the_rest_comes_from_the_file(tmp_path: Path) -> None:
    folder = starter(tmp_path, "FACTOR = 2\n" + STUB, points=2)
    cells = {1: "%load_ext softmark", 2: WRONG, 4: "def double(x):\n    return FACTOR * x", 5: "%check 1.1"}
    found = check_cells(cells, folder, ["1.1"])
    assert found.grade.points == 2 and "1 of 1 passed" in repr(found)
    assert check_cells({1: "print(1)"}, folder).grade.checks[0].outcome == "missing"
    assert (folder / "numbers_part.py").read_text() == "FACTOR = 2\n" + STUB


def test_an_error_names_the_cell_and_a_future_import_stays_first(tmp_path: Path) -> None:
    folder = starter(tmp_path, STUB)
    raising = "from __future__ import annotations\n\ndef double(x):\n    raise ValueError('odd')\n"
    found = check_cells({1: "import torch", 7: raising}, folder)
    assert "'this notebook', cell 7 (numbers_part.py, line" in repr(found) and "ValueError: odd" in repr(found)


def test_there_is_no_such_check_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(SoftmarkError, match=r"There is no check '9\.9'"):
        check_cells({}, starter(tmp_path, RIGHT), ["9.9"])


def test_in_a_kernel_it_is_a_table_with_a_picture_of_what_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = starter(tmp_path, STUB, MATRIX)
    cells = ["%load_ext softmark", WRONG, "%check 1.1", RIGHT, 'check("numbers_part")', "%check 9.9"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    [wrong], [right], [printed] = (notebook.cells[place].outputs for place in (2, 4, 5))
    table = wrong.data["text/html"]
    assert "✗ failed" in table and "0 of 2" in table and "expected, got and difference as heat maps" in table
    assert table.count("<rect") == 3 * 3 * 4 and "numbers_part  0 of 1 passed" in wrong.data["text/plain"]
    assert "\x1b" not in wrong.data["text/plain"]
    assert "✓ passed" in right.data["text/html"] and "<svg" not in right.data["text/html"]
    assert printed.text.startswith("softmark: There is no check '9.9'")
