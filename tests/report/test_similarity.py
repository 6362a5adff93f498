"""Copies are found however they were changed, and what is given or what everybody writes is no copy."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autograder.report.similarity import Pair, every_hash, fingerprints, similar_pairs
from autograder.report.similarity_page import similarity_page

SAMPLES = Path(__file__).parents[1] / "submissions"
ONE = (SAMPLES / "student_03_einops" / "attention.py").read_text(encoding="utf-8")
OTHERS = {
    name: (SAMPLES / name / "attention.py").read_text(encoding="utf-8")
    for name in ("student_01_einsum", "student_02_loops_and_where", "student_06_objects_and_helpers")
}


def renamed(source: str) -> str:
    for number, name in enumerate(("scores", "weights", "mask", "queries", "keys", "out", "heads")):
        source = re.sub(rf"\b{name}\b", f"thing_{number}", source)
    return re.sub(r"#.*", "# mine", source)


def reordered(source: str) -> str:
    head, *blocks = re.split(r"\n(?=def |class )", source)
    return "\n".join([head, *reversed(blocks)])


def reformatted(source: str) -> str:
    return re.sub(r"\n{2,}", "\n", source.replace(", ", ",\n        ").replace("    ", "  "))


def pairs(**sources: str) -> list[Pair]:
    return similar_pairs({name: fingerprints({"attention.py": text}) for name, text in sources.items()})


@pytest.mark.parametrize(
    ("change", "least"),
    [(str, 1), (renamed, 0.9), (reordered, 0.6), (reformatted, 0.8)],
    ids=["as it is", "renamed", "reordered", "reformatted"],
)
def test_a_copy_is_the_first_pair_however_it_was_changed(change, least: float) -> None:
    first, *rest = pairs(one=ONE, copied=change(ONE), **OTHERS)
    assert (first.left, first.right) == ("copied", "one")
    assert first.similarity >= least
    assert all(each.similarity < 0.3 for each in rest)


def test_different_solutions_are_far_apart() -> None:
    assert all(each.similarity < 0.3 for each in pairs(one=ONE, **OTHERS))


def test_what_is_given_is_no_copy() -> None:
    prints = {name: fingerprints({"a.py": ONE}) for name in ("a", "b")}
    assert similar_pairs(prints, every_hash(ONE)) == []


def test_what_more_than_ten_have_is_no_copy_and_a_ring_of_eight_is() -> None:
    others = {f"x{n}": text for n, text in enumerate(OTHERS.values())}
    assert pairs(**dict.fromkeys("abcdefghijk", ONE), **others) == []
    ring = pairs(**dict.fromkeys("abcdefgh", ONE), **others)
    assert sum(each.similarity == 1 for each in ring) == 28


def test_two_of_an_earlier_year_are_no_pair() -> None:
    prints = {name: fingerprints({"a.py": ONE}) for name in ("now", "old/a", "old/b")}
    found = similar_pairs(prints, older={"old/a", "old/b"})
    assert [(each.left, each.right) for each in found] == [("now", "old/a"), ("now", "old/b")]


def test_the_page_has_the_lines_of_both_as_text() -> None:
    source = ONE.replace("import math", "import math  # <b>")
    found = pairs(one=source, copied=renamed(source))
    page = similarity_page("08", found, {"one": {"attention.py": source}, "copied": {"attention.py": renamed(source)}})
    assert "no verdict" in page and "thing_0" in page and "<script" not in page
    assert "<b>" not in page.split("</style>")[1]


@pytest.mark.parametrize("text", ["", "x", '"""' * 2000, "'" * 5000, "\\" * 5000, "(" * 5000, "x = '\n" * 500])
def test_any_text_has_fingerprints(text: str) -> None:
    assert isinstance(fingerprints({"a.py": text}), dict)
