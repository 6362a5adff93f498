"""Parts are imported as flat modules, whatever else they do when imported."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from autograder.worker.loader import Loader


def write(folder: Path, **files: str) -> Loader:
    for name, source in files.items():
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    return Loader(folder, list(files))


def test_parts_import_each_other(tmp_path: Path) -> None:
    loader = write(tmp_path, numbers_part="from other_part import two\nfour = two + two", other_part="two = 2")
    assert loader.load("numbers_part").four == 4


def test_an_exit_at_the_end_leaves_what_was_defined(tmp_path: Path) -> None:
    loader = write(tmp_path, leaving="import sys\nx = 1\nsys.exit(0)\nx = 2")
    assert loader.load("leaving").x == 1


def test_another_exception_goes_through_and_leaves_no_half_module(tmp_path: Path) -> None:
    loader = write(tmp_path, broken="x = 1\n1 / 0")
    with pytest.raises(ZeroDivisionError):
        loader.load("broken")
    assert "broken" not in sys.modules


@pytest.mark.parametrize(
    "line",
    ["import not_here", "from not_here.inner import a, b", "import math, not_here.inner as n", "import not_here.x"],
)
def test_an_import_of_what_is_not_there_and_not_used_is_left_out(tmp_path: Path, line: str) -> None:
    loader = write(tmp_path, training=f"x = 1\n{line}\nimport not_here_either\ndef where():\n    return 1 / 0")
    module = loader.load("training")
    with pytest.raises(ZeroDivisionError) as caught:
        module.where()
    assert (module.x, caught.traceback[-1].lineno + 1) == (1, 5)


@pytest.mark.parametrize("use", ["log = not_here.log", "def train():\n    not_here.log()", "from not_here import *"])
def test_an_import_of_what_is_not_there_and_is_used_fails(tmp_path: Path, use: str) -> None:
    with pytest.raises(ModuleNotFoundError, match="not_here"):
        write(tmp_path, training=f"import not_here\n{use}").load("training")


def test_a_file_that_is_prepared_for_what_is_missing_keeps_its_own_way(tmp_path: Path) -> None:
    source = "try:\n    import not_here\nexcept ImportError:\n    fallback = True\nimport neither"
    assert write(tmp_path, prepared=source).load("prepared").fallback


def test_a_part_comes_before_a_library_of_the_same_name(tmp_path: Path) -> None:
    import json

    loader = write(tmp_path, json="mine = True")
    assert loader.load("json").mine
    assert sys.modules["json"] is json


def test_a_file_that_is_no_part_shadows_no_library(tmp_path: Path) -> None:
    (tmp_path / "random.py").write_text("theirs = True")
    sys.modules.pop("random", None)
    loader = write(tmp_path, drawing="import random\nshadowed = hasattr(random, 'theirs')")
    assert not loader.load("drawing").shadowed


def test_a_file_beside_the_parts_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "my_own_file.py").write_text("three = 3")
    loader = write(tmp_path, using="from my_own_file import three")
    assert loader.load("using").three == 3


def test_two_folders_with_the_same_part_do_not_meet(tmp_path: Path) -> None:
    loaders: list[Loader] = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        loaders.append(write(tmp_path / name, part="import helper_file\nname = helper_file.name"))
        (tmp_path / name / "helper_file.py").write_text(f"name = {name!r}")
    assert [loader.load("part").name for loader in loaders] == ["one", "two"]
    with loaders[0].installed():
        assert sys.modules["part"].name == "one"
    assert "part" not in sys.modules


def test_a_part_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(ModuleNotFoundError, match="absent"):
        Loader(tmp_path, ["absent"]).load("absent")


def test_after_loading_nothing_of_the_folder_is_on_the_path(tmp_path: Path) -> None:
    loader = write(tmp_path, part="x = 1")
    loader.load("part")
    assert str(tmp_path) not in sys.path
    assert loader not in sys.meta_path
