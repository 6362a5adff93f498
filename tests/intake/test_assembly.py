"""A part is taken from a notebook by name: what its functions need, in the notebook's order, and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from autograder.intake.assembly import Code, Placed, Surroundings, module_of
from autograder.intake.statements import Statement
from autograder.intake.submission import SourceTree
from tests.intake.handins import ATTENTION, SOFTMAX, STUB, TOKENS, code, hand_in, loaded, markdown, notebook, read


def tree_of(folder: Path, *cells: Any) -> SourceTree:
    return read(hand_in(folder, {"hw.ipynb": notebook(*cells)}))


def taken(folder: Path, *cells: Any) -> dict[str, Any]:
    """The names of the module that part attention becomes."""
    return loaded(tree_of(folder, *cells))


def source(folder: Path, *cells: Any) -> str:
    return tree_of(folder, *cells).files["attention.py"].decode()


@pytest.mark.parametrize(
    ("before", "value"),
    [
        ("D = 64", 64),
        ("A, B = 32, 32\nD = A + B", 64),
        ("D: int = 64", 64),
        ("D = E = 64", 64),
        ("NEG = float('-inf')\nD = -NEG", float("inf")),
        ("import math\nD = math.sqrt(4096)", 64.0),
        ("from math import *\nD = sqrt(4096)", 64.0),
        ("import os.path\nD = os.path.join('a', 'b')", "a/b"),
        ("D = {}\nfor i in range(3):\n    D[i] = bytes([i])", {0: b"\0", 1: b"\1", 2: b"\2"}),
        ("D = []\nD.append(3)\nD += [4]", [3, 4]),
        ("D = {'a': 1}\nD['b'] = 2", {"a": 1, "b": 2}),
        ("def table():\n    return 64\nD = table()", 64),
        ("D = (lambda x: 2 * x)(32)", 64),
        ("try:\n    import nowhere\n    D = nowhere.x\nexcept ImportError:\n    D = 64", 64),
        ("if 1 > 2:\n    D = 1\nelse:\n    print('no GPU')\n    D = 64", 64),
        ("%time D = 1\nD = 64", 64),
        ("D = 1\nD = 64", 64),
        ("import contextlib\nwith contextlib.suppress(Exception):\n    D = 64", 64),
    ],
)
def test_a_constant_that_a_function_needs_is_taken(tmp_path: Path, before: str, value: object) -> None:
    assert taken(tmp_path, before, "def softmax(x, dim):\n    return D\n")["softmax"](0, 0) == value


@pytest.mark.parametrize(
    "definition",
    [
        "softmax = lambda x, dim: x + dim",
        "from functools import partial\ndef g(a, x, dim): return x + dim\nsoftmax = partial(g, 1)",
        "def g(x, dim): return x + dim\nsoftmax = g",
        "import functools\n@functools.lru_cache\ndef softmax(x, dim): return x + dim",
        "import functools\ndef softmax(x, dim): return x + dim\nsoftmax = functools.lru_cache(softmax)",
        "def make(k):\n    return lambda x, dim: k * x + dim\nsoftmax = make(1)",
        "if True:\n    def softmax(x, dim): return x + dim",
        "from operator import add as softmax\ndef attend(): pass\nclass Heads: pass",
        "def softmax(x, dim): return globals()['help_' + 'er'](x, dim)\ndef help_er(x, dim): return x + dim",
        "import operator as o\nclass Ops:\n    add = o.add\ndef softmax(x, dim): return Ops.add(x, dim)",
    ],
)
def test_a_function_is_taken_however_it_is_defined(tmp_path: Path, definition: str) -> None:
    assert taken(tmp_path, definition, "def attend(): return 0")["softmax"](3, 4) == 7


def test_a_class_is_taken_with_bases_dataclasses_and_later_patches(tmp_path: Path) -> None:
    names = taken(
        tmp_path,
        "from dataclasses import dataclass, field",
        "@dataclass\nclass Config:\n    d: int = 3\n    more: list = field(default_factory=list)",
        "class Base:\n    def base(self): return CONFIG.d",
        "CONFIG = Config()",
        "class Heads(Base):\n    def forward(self): return 0",
        "def forward(self, x):\n    return x + self.base()",
        "Heads.forward = forward",
        "class Heads(Heads):\n    def step(self): return self.forward(1)",
    )
    assert names["Heads"]().step() == 4


def test_a_method_that_a_decorator_adds_is_taken_and_decorated_training_is_not(tmp_path: Path) -> None:
    tree = tree_of(
        tmp_path,
        "import functools",
        "def add_to_class(Class):\n    return lambda f: setattr(Class, f.__name__, f)",
        "class Heads: pass",
        "@add_to_class(Heads)\ndef step(self):\n    return 4",
        "@functools.lru_cache()\ndef evaluate(): pass\n@functools.lru_cache()\ndef softmax(x, dim): pass",
    )
    text = tree.files["attention.py"].decode()
    assert loaded(tree)["Heads"]().step() == 4
    assert "evaluate" not in text


def test_training_plots_and_experiments_stay_out(tmp_path: Path) -> None:
    text = source(
        tmp_path,
        "import matplotlib.pyplot as plt\nimport wandb\nfrom tqdm import tqdm",
        SOFTMAX,
        "def train(model):\n    plt.plot([1])\n",
        "x = torch.randn(10 ** 9)\nmodel = Heads()\nlosses = train(model)\nprint(losses)",
        "for epoch in tqdm(range(1000)):\n    loss = model(x)\n    loss.backward()",
        "while True:\n    pass",
        "assert softmax(x, 0) is not None",
        "grader.check('q1')",
        "if __name__ == '__main__':\n    train(Heads())",
        "wandb.init()",
    )
    assert text.split("# Cell")[1:] == [f" 2\n{SOFTMAX}\n"]


def test_a_setting_that_functions_rely_on_is_taken(tmp_path: Path) -> None:
    text = source(tmp_path, "import torch, sys\ntorch.set_default_dtype(torch.float64)\ntorch.manual_seed(0)", SOFTMAX)
    assert "import torch\n" in text
    assert "torch.set_default_dtype(torch.float64)" in text
    assert "manual_seed" not in text


def test_a_constant_that_cannot_be_made_takes_nothing_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = taken(tmp_path, "D = open('no such file').read()", "def softmax(x, dim): return x\ndef attend(x): return D")
    assert names["softmax"](3, 0) == 3
    assert "hw.ipynb, cell 1: D is not there, since FileNotFoundError" in capsys.readouterr().out


def test_a_library_that_is_not_there_takes_nothing_with_it_and_is_spoken_of(tmp_path: Path) -> None:
    tree = tree_of(
        tmp_path,
        "import xformers.ops as xops, math",
        "def softmax(x, dim): return xops.f(math.pi)\ndef attend(x): return x",
    )
    assert loaded(tree)["attend"](3) == 3
    assert "hw.ipynb imports xformers, which grading may not have: what was handed in must do without it." in tree.notes


def test_a_library_of_the_assignment_is_imported_plainly(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, "from einops import rearrange", "def softmax(x, dim): return rearrange(x, 'a b -> b a')")
    assert "\nfrom einops import rearrange\n" in tree.files["attention.py"].decode()
    assert not any("einops" in note for note in tree.notes)


def test_imports_from_the_future_come_first(tmp_path: Path) -> None:
    names = taken(
        tmp_path, "import math", "from __future__ import annotations", "def softmax(x: Nowhere, dim): return math.pi"
    )
    assert names["softmax"](0, 0) > 3


def test_the_last_of_two_definitions_wins_and_is_spoken_of(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, SOFTMAX, "x = 1", "def softmax(x, dim):\n    return 'new'\n")
    assert loaded(tree)["softmax"](0, 0) == "new"
    assert "hw.ipynb defines softmax in cells 1 and 3; the last one was graded." in tree.notes


def test_two_definitions_in_one_cell_are_spoken_of(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, SOFTMAX + "def softmax(x, dim):\n    return 'new'\n")
    assert "hw.ipynb defines softmax twice in cell 1; the last one was graded." in tree.notes


def test_a_copied_cell_is_not_spoken_of(tmp_path: Path) -> None:
    assert not any("last one" in note for note in tree_of(tmp_path, SOFTMAX, SOFTMAX).notes)


@pytest.mark.parametrize("order", [(STUB, SOFTMAX), (SOFTMAX, STUB)])
def test_a_stub_never_wins_over_work(tmp_path: Path, order: tuple[str, str]) -> None:
    tree = tree_of(tmp_path, *order)
    assert loaded(tree)["softmax"](1, 2) == ("softmax", 1, 2)
    assert not any("softmax in cells" in note for note in tree.notes)


@pytest.mark.parametrize(
    "shadow",
    ["softmax = softmax(x, 0)", "attend, softmax = softmax(x, 0)", "softmax = torch.zeros(3)", "softmax: list = [1]"],
)
def test_a_result_under_a_functions_name_does_not_hide_it(tmp_path: Path, shadow: str) -> None:
    tree = tree_of(tmp_path, SOFTMAX, f"x = 3\n{shadow}")
    assert loaded(tree)["softmax"](1, 2) == ("softmax", 1, 2)
    assert "hw.ipynb, cell 2, gives softmax another value; its definition was graded." in tree.notes


def test_a_cell_with_a_syntax_error_is_lost_alone_and_spoken_of_if_it_matters(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, SOFTMAX, "def attend(x):\nreturn x", "%%bash\nls")
    assert loaded(tree)["softmax"](1, 2) == ("softmax", 1, 2)
    (said,) = [note for note in tree.notes if "cell" in note]
    assert said.startswith("hw.ipynb: attend stands in cell 2, which is not Python (line 2: expected an indented block")
    assert said.endswith("so it was not graded.")


def test_a_cell_that_is_not_python_is_spoken_of_since_it_may_be_needed(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, SOFTMAX, "D = = 3", "%%bash\nls")
    assert [note for note in tree.notes if "cell" in note] == [
        "hw.ipynb: cell 2 is not Python (line 1: invalid syntax), so nothing in it was taken."
    ]


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_code_in_a_cell_that_is_not_code_is_spoken_of(tmp_path: Path, kind: str) -> None:
    tree = tree_of(tmp_path, SOFTMAX, {**markdown("```python\ndef attend(x):\n    return x\n```"), "cell_type": kind})
    said = f"hw.ipynb: attend stands in cell 2, which is a {kind.title()} cell, so it was not graded."
    assert said in tree.notes
    assert "attend" not in loaded(tree)


def test_moved_copied_and_retagged_cells_make_no_difference(tmp_path: Path) -> None:
    nbgrader = {
        "nbgrader": {"grade_id": "cell-1", "solution": False, "grade": True, "locked": True, "schema_version": 3}
    }
    marked = "### BEGIN SOLUTION\n" + SOFTMAX + "### END SOLUTION\n# YOUR CODE HERE\n"
    cells = [
        code("def attend(x): return softmax(x, 1)"),
        code(marked, metadata=nbgrader),
        code(marked, metadata={"tags": 3}),
    ]
    assert taken(tmp_path, *cells)["attend"](3) == ("softmax", 3, 1)


def test_two_parts_of_one_notebook_may_import_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = (
        "from attention import *\nfrom attention import softmax\nimport tokens",
        SOFTMAX,
        "from tokens import encode\ndef encode(x): return softmax(x, D)\ndef decode(x): return x\nD = 7",
        "def attend(x): return tokens.encode(x)",
    )
    tree = read(hand_in(tmp_path, {"hw.ipynb": notebook(*cells)}), TOKENS, ATTENTION)
    assert sorted(tree.files) == ["attention.py", "tokens.py"]
    tree.write(tmp_path / "tree")
    monkeypatch.syspath_prepend(str(tmp_path / "tree"))
    for name in ("attention", "tokens"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert loaded(tree, "attention.py")["attend"](3) == ("softmax", 3, 7)
    assert loaded(tree, "tokens.py")["encode"](3) == ("softmax", 3, 7)


def test_a_part_that_stands_in_a_file_beside_is_imported_from_it(tmp_path: Path) -> None:
    cells = ("from tokens import encode", "def softmax(x, dim): return encode(x)")
    tree = read(
        hand_in(tmp_path, {"hw.ipynb": notebook(*cells), "tokens.py": "def encode(x): return x\n"}), TOKENS, ATTENTION
    )
    assert "\nfrom tokens import encode\n" in tree.files["attention.py"].decode()
    assert tree.files["tokens.py"] == b"def encode(x): return x\n"


def test_helpers_beside_a_notebook_go_with_it(tmp_path: Path) -> None:
    cells = ("from helpers import shift\nimport tools.deep", "def softmax(x, dim): return shift(tools.deep.f(x))")
    tree = read(
        hand_in(tmp_path, {"hw.ipynb": notebook(*cells), "helpers.py": "", "tools/deep.py": "", "d.json": "{}"})
    )
    assert sorted(tree.files) == ["attention.py", "d.json", "helpers.py", "tools/deep.py"]
    assert "\nfrom helpers import shift\nimport tools.deep\n" in tree.files["attention.py"].decode()


def test_a_long_chain_of_definitions_in_the_wrong_order_is_followed(tmp_path: Path) -> None:
    length = 20_000
    chain = [
        Placed(
            number,
            Statement(
                kind="definition",
                line=1,
                text=f"def f{number}(): ...",
                binds=(f"f{number}",),
                reads=(f"f{number - 1}",),
            ),
        )
        for number in range(length)
    ]
    first = Placed(length, Statement(kind="definition", line=1, text="", binds=("softmax",), reads=(f"f{length - 1}",)))
    code = Code("hw.ipynb", (*chain, first), (), ())
    source = module_of(code, ATTENTION, Surroundings(frozenset(), frozenset())).source
    assert source.count("def f") == length


def test_megabytes_of_empty_lines_cost_nothing(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, SOFTMAX, {**markdown("\n \t" * 300_000 + "x")})
    assert loaded(tree)["softmax"](1, 2) == ("softmax", 1, 2)
