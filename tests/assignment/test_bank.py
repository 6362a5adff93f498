"""Entries of the bank are read without being run, and laid over the reference so that the last definition wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.assignment.assignment import Assignment, Limits, Part
from autograder.assignment.bank import bank, overlay
from autograder.errors import SoftmarkError

PART = Part(name="attention", number=2, title="Attention", points=22, functions=("softmax",))


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    folder = tmp_path / "assignments" / "08"
    folder.mkdir(parents=True)
    return Assignment(name="08", title="T", folder=folder, key=b"k", parts=(PART,), limits=Limits())


def write(assignment: Assignment, name: str, source: str) -> Path:
    path = assignment.solutions / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)
    return path


def run(source: str) -> dict[str, object]:
    """Names of a module made of trusted source."""
    names: dict[str, object] = {}
    exec(compile(source, "overlay", "exec"), names)
    return names


def test_an_entry_says_its_diagnosis_its_checks_and_whether_it_crashes(assignment: Assignment) -> None:
    write(
        assignment,
        "mistakes/attention/axis.py",
        '"""This is softmax\nover rows."""\nCAUGHT_BY = ["2.3", "2.4"]\nCRASHES = True\n',
    )
    write(assignment, "variants/attention/loops.py", '"""Loops."""\n')
    write(assignment, "mistakes/tokens/other.py", "")
    mistake, variant = bank(assignment, PART)
    assert (mistake.kind, mistake.name, mistake.diagnosis) == ("mistake", "axis", "This is softmax over rows.")
    assert (mistake.caught_by, mistake.crashes) == (("2.3", "2.4"), True)
    assert (variant.kind, variant.name, variant.caught_by, variant.crashes) == ("variant", "loops", (), False)


def test_reading_an_entry_does_not_run_it(assignment: Assignment, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    write(assignment, "variants/attention/runs.py", f'"""Runs."""\nopen({str(mark)!r}, "w")\n')
    assert [entry.name for entry in bank(assignment, PART)] == ["runs"]
    assert not mark.exists()


def test_a_part_without_a_bank_has_an_empty_one(assignment: Assignment) -> None:
    assert bank(assignment, PART) == []


@pytest.mark.parametrize(
    ("name", "source", "sentence"),
    [
        ("mistakes/attention/a.py", 'CAUGHT_BY = ["2.1"]', r"a\.py has no docstring"),
        ("mistakes/attention/a.py", '"""D."""', r'does not say which check must fail: add CAUGHT_BY = \["2\.1"\]'),
        ("mistakes/attention/a.py", '"""D."""\nCAUGHT_BY = "2.1"', r"CAUGHT_BY is '2\.1'; it must be a list"),
        ("mistakes/attention/a.py", '"""D."""\nCAUGHT_BY = [2.1]', r"CAUGHT_BY is \[2\.1\]; it must be a list"),
        ("mistakes/attention/a.py", '"""D."""\nCAUGHT_BY = numbers()', r"CAUGHT_BY must be written out"),
        ("mistakes/attention/a.py", '"""D."""\nCAUGHT_BY = ["2.1"]\nCRASHES = 1', r"CRASHES is 1"),
        ("mistakes/attention/a.py", '"""D."""\ndef f(:', r"a\.py, line 2, is not Python"),
        ("variants/attention/a.py", '"""D."""\nCAUGHT_BY = ["2.1"]', r"is a variant, which nothing may catch"),
    ],
)
def test_a_fault_in_an_entry_is_one_sentence_with_its_path(
    assignment: Assignment, name: str, source: str, sentence: str
) -> None:
    path = write(assignment, name, source)
    with pytest.raises(SoftmarkError, match=sentence) as caught:
        bank(assignment, PART)
    assert str(path) in str(caught.value)


def test_the_last_definition_wins_and_the_others_stay() -> None:
    names = run(
        overlay('"""R."""\nSCALE = 2\ndef f(): return 1\ndef g(): return f() * SCALE\n', "def f(): return 10\n")
    )
    assert names["g"]() == 20  # type: ignore[operator]
    assert names["__doc__"] == "R."


def test_a_class_can_be_changed_in_one_method() -> None:
    names = run(
        overlay(
            "class A:\n    def f(self): return 1\n    def g(self): return 2\n",
            "class A(A):\n    def f(self): return 3\n",
        )
    )
    made = names["A"]()  # type: ignore[operator]
    assert (made.f(), made.g()) == (3, 2)


@pytest.mark.parametrize(
    "reference", ["x = 1\n", '"""R."""\n\nx = 1\n', '"""R."""\nfrom __future__ import division\nx = 1']
)
def test_an_entrys_future_import_moves_to_the_front(reference: str) -> None:
    names = run(overlay(reference, '"""M."""\nfrom __future__ import annotations\n\ndef f(x: Nowhere): return x + 1\n'))
    assert names["f"](1) == 2  # type: ignore[operator]
    assert names["x"] == 1
