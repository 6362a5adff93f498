"""What `validate` finds by reading alone: each fault by its place and its remedy, and nothing in what is sound."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.assignment.assignment import Assignment, load_assignment
from autograder.authoring.audit import audit, remarks
from autograder.commands.validate import validate_assignment
from autograder.errors import SoftmarkError
from tests.tiny import ONE_CHECK, REFERENCE, tiny_assignment

HIDDEN = '''
@number("1.2")
@weight(0)
@visibility("hidden")
@pytest.mark.read("handout 1.1")
def test_doubles_what_is_negative(student, reference):
    """A negative number is doubled, too"""
    x = torch.tensor([-0.731059, -2.0])
    text = "a text that is so long that nobody writes it twice by chance"
    assert torch.equal(student.double(x), reference.double(x)), text
'''
ROOT = REFERENCE.replace("    return 2 * x\n", "    return (x.square() * 4).sqrt() * x.sign()\n    # 2x\n")


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    assignment = tiny_assignment(tmp_path, hidden=HIDDEN, reference=ROOT)
    (assignment.folder / "handout.md").write_text("# Tiny\n\n## 1.1 Doubling\n\n`double` and `Counter`.\n")
    (assignment.hidden / "key").write_text("tiny-secret-key\n")
    return assignment


def found(assignment: Assignment) -> list[tuple[str, str]]:
    return [(each.where, each.sentence) for each in audit(load_assignment(assignment.folder))]


def append(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text((path.read_text() if path.exists() else "") + text)


@pytest.mark.parametrize("name", ["00_warmup", "08_transformers"])
def test_the_courses_assignments_have_no_fault(name: str) -> None:
    assert audit(load_assignment(Path(__file__).parents[2] / "assignments" / name)) == []


def test_a_sound_assignment_has_no_fault_and_one_remark(assignment: Assignment) -> None:
    assert found(assignment) == []
    untried = "numbers_part: it has no known mistake, so nobody knows what its checks catch; --suggest proposes some"
    assert remarks(assignment)[0] == untried
    text = '"""Nothing is doubled."""\nCAUGHT_BY = ["1.1"]\ndouble = None\n'
    append(assignment.solutions / "mistakes" / "numbers_part" / "a.py", text)
    assert remarks(assignment) == [
        "numbers_part: while a check is hidden, Gradescope shows students no total, only the points of visible checks"
    ]
    visible = assignment.folder / "checks" / "test_numbers_part.py"
    visible.rename(assignment.folder / "kept.py")
    assert remarks(assignment)[0] == "numbers_part: it has no visible check (checks/test_numbers_part.py is not there)"
    (assignment.folder / "kept.py").rename(visible)
    (assignment.hidden / "test_numbers_part.py").unlink()
    assert remarks(assignment) == []


@pytest.mark.parametrize(
    ("old", "new", "where", "sentence"),
    [
        ('"Counter"', '"Count"', "solutions/numbers_part.py", "Count, which is not there; did you mean 'Counter'?"),
        ('"Counter"', '"Counter.stop"', "solutions/numbers_part.py", "Counter has no method stop, which the manifest"),
        (
            'key = "',
            'libraries = ["no_such_one"]\nkey = "',
            "assignment.toml",
            "libraries names no_such_one, which is not",
        ),
        ('key = "tiny-visible"', 'key = "tiny-secret-key"', "assignment.toml", "holds the key of the hidden checks"),
    ],
)
def test_a_manifest_that_names_what_is_not_there(
    assignment: Assignment, old: str, new: str, where: str, sentence: str
) -> None:
    path = assignment.folder / "assignment.toml"
    path.write_text(path.read_text().replace(old, new))
    assert any(place == where and sentence in text for place, text in found(assignment)), found(assignment)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("# Tiny\n## 1.1 x\n`double`", "it does not mention Counter, which students write in numbers_part.py"),
        ("# Tiny\n## 1.10 x\n`double`, `Counter`", "handout.md has no such heading"),
        ("# Tiny\n## 1.1 x\n`double`, `Counter`, test_doubles_what_is_negative", "a hidden check"),
        ("# Tiny\n## 1.1 x\n`double`, `Counter`: -0.731059", "it holds 0.731059, a number of test_numbers_part.py"),
        (
            "# Tiny\n## 1.1 x\n`double`, `Counter`, a text that is so long\nthat nobody writes it twice by chance",
            "a text of",
        ),
        (
            "# Tiny\n## 1.1 x\n`double`, `Counter`:\n\n    return (x.square() * 4).sqrt() * x.sign()",
            "it holds the solution in",
        ),
    ],
)
def test_a_handout_that_says_too_little_or_too_much(assignment: Assignment, text: str, sentence: str) -> None:
    (assignment.folder / "handout.md").write_text(text)
    faults = found(assignment)
    assert len(faults) == 1
    assert sentence in faults[0][1]


def test_no_handout_at_all_is_one_fault(assignment: Assignment) -> None:
    (assignment.folder / "handout.md").unlink()
    assert [where for where, _ in found(assignment)] == ["handout.md"]


def test_a_solution_without_marks_is_named_and_so_is_one_that_a_visible_check_holds(assignment: Assignment) -> None:
    path = assignment.solutions / "numbers_part.py"
    path.write_text("\n".join(line for line in ROOT.split("\n") if "SOLUTION" not in line))
    assert [(where, text.split(",")[0]) for where, text in found(assignment)] == [
        ("numbers_part.py", "students are to write double"),
        ("numbers_part.py", "students are to write Counter"),
    ]
    path.write_text(ROOT)
    append(
        assignment.folder / "checks" / "test_numbers_part.py", "ORACLE = lambda x: (x.square() * 4).sqrt() * x.sign()"
    )
    assert found(assignment) == []  # not the line as it stands in the solution
    append(
        assignment.folder / "checks" / "test_numbers_part.py",
        "\n\ndef oracle(x):\n    return (x.square() * 4).sqrt() * x.sign()",
    )
    ((where, text),) = found(assignment)
    assert where == "checks/test_numbers_part.py"
    assert "the solution in line" in text


def test_mistakes_that_nobody_would_try_and_checks_that_they_cannot_name(assignment: Assignment) -> None:
    mistakes = assignment.solutions / "mistakes"
    append(mistakes / "number_part" / "a.py", "")
    append(mistakes / "b.py", "")
    append(mistakes / "numbers_part" / "c.py", '"""It trebles."""\nCAUGHT_BY = ["1.3"]\ndouble = None\n')
    assert found(assignment) == [
        ("solutions/mistakes/b.py", "it belongs to no part: move it to mistakes/<part>/, or it is never tried"),
        (
            "solutions/mistakes/number_part",
            "no part is called so, and nothing in it is tried; did you mean 'numbers_part'?",
        ),
        (
            "solutions/mistakes/numbers_part/c.py",
            "CAUGHT_BY names check 1.3, which does not exist; did you mean '1.2'?",
        ),
    ]


def test_what_is_installed_here_and_not_on_the_platform_is_named(assignment: Assignment) -> None:
    append(
        assignment.folder / "checks" / "test_numbers_part.py",
        "\nimport hypothesis.strategies\nimport yaml, numpy.linalg\n",
    )
    append(assignment.solutions / "numbers_part.py", "\n\ndef helper():\n    from no_such_library import x\n")
    there = "which nothing installs on Gradescope: add it to `libraries` in assignment.toml, or do without"
    assert found(assignment) == [
        ("solutions/numbers_part.py", f"it imports no_such_library, {there}"),
        ("checks/test_numbers_part.py", f"it imports hypothesis, {there}"),
    ]
    append(assignment.folder / "checks" / "hypothesis.py", "x = 1\n")
    assert found(assignment)[-1][1].startswith(
        "it imports hypothesis, which lies beside it and is not found from there:"
    )
    (assignment.folder / "checks" / "hypothesis.py").unlink()
    mine = str(assignment.folder.resolve())
    append(
        assignment.folder / "checks" / "test_numbers_part.py", f"\nFILES = ['/dev/null', '/nowhere', '/', {mine!r}]\n"
    )
    path = assignment.folder / "assignment.toml"
    path.write_text('libraries = ["hypothesis"]\n' + path.read_text())
    (first, _), (second, text) = found(assignment)
    assert (first, second) == ("solutions/numbers_part.py", "checks/test_numbers_part.py")
    assert f"names {mine!r}, which is on this machine alone: put the file beside this one" in text


@pytest.mark.parametrize(
    ("folder", "text", "sentence"),
    [
        (
            "mistakes",
            'CAUGHT_BY = ["1.1"]\ndef duoble(x):\n    return x',
            "it defines duoble, and nothing that stands in numbers_part.py, so it is the reference as it is; did you "
            "mean 'double'?",
        ),
        (
            "variants",
            "import torch",
            "it defines nothing that stands in numbers_part.py, so it is the reference as it is; students write "
            "double, Counter",
        ),
        ("variants", "import torch\ntorch.set_default_dtype(torch.float64)", ""),
        ("variants", "class Counter(Counter):\n    pass", ""),
        ("variants", "import numpy as torch\n\ndef torch():\n    pass", ""),
    ],
)
def test_an_entry_that_changes_nothing_is_no_entry(
    assignment: Assignment, folder: str, text: str, sentence: str
) -> None:
    append(assignment.solutions / folder / "numbers_part" / "a.py", f'"""It does something."""\n{text}\n')
    expected = [(f"solutions/{folder}/numbers_part/a.py", sentence)] if sentence else []
    assert found(assignment) == expected


def test_a_function_that_the_manifest_forgets_and_a_check_that_pytest_passes_over(assignment: Assignment) -> None:
    path = assignment.folder / "assignment.toml"
    path.write_text(path.read_text().replace('"double", ', ""))
    append(
        assignment.folder / "checks" / "test_numbers_part.py",
        '\n\n@number("1.3")\ndef check_it(student):\n    """x"""\n',
    )
    assert found(assignment) == [
        (
            "solutions/numbers_part.py",
            "students are to write double, as its marks say, and part numbers_part of the manifest does not name it: "
            "add it to `functions` (or to `bonus`)",
        ),
        ("checks/test_numbers_part.py", "check_it is never run: a check's name begins with test_"),
    ]


def test_visible_code_that_imports_hidden_code_is_named_by_file(assignment: Assignment) -> None:
    append(assignment.hidden / "support" / "secrets.py", "SECRET = 1\n")
    append(assignment.hidden / "test_numbers_part.py", "from hidden.support.secrets import SECRET\n")
    append(assignment.support / "tables.py", "TABLE = {}\n")
    append(assignment.folder / "checks" / "test_numbers_part.py", "from support.tables import TABLE\n")
    assert found(assignment) == []
    append(assignment.support / "tables.py", "def later():\n    from hidden.support import secrets\n")
    sentence = "it imports hidden.support, which students do not get: move that to checks/support/"
    assert found(assignment) == [("checks/support/tables.py", sentence)]


def test_a_check_file_that_is_not_python_is_a_sentence(assignment: Assignment) -> None:
    append(assignment.folder / "checks" / "test_numbers_part.py", ONE_CHECK + "\ndef (")
    with pytest.raises(SoftmarkError, match=r"test_numbers_part\.py, line \d+, is not Python"):
        audit(assignment)


def test_validate_says_first_what_reading_finds_and_falls_short_of_it(
    assignment: Assignment, capsys: pytest.CaptureFixture[str]
) -> None:
    (assignment.folder / "handout.md").write_text("# Tiny\n\n## 1.1 Doubling\n\n`double`.\n")
    assert validate_assignment(assignment.folder, False, 1, False) == 1
    first, _, second, *_, last = capsys.readouterr().out.splitlines()
    assert first == "handout.md: it does not mention Counter, which students write in numbers_part.py"
    assert second.startswith("note: numbers_part: while a check is hidden")
    assert last.startswith("reference 2/2 · starter 0/2")


def test_what_a_hidden_check_writes_on_the_leaderboard_is_said_to_be_seen(tmp_path: Path) -> None:
    hidden = ONE_CHECK.replace("@weight(2)", '@weight(2)\n@visibility("hidden")\n@leaderboard("speed")')
    assignment = tiny_assignment(tmp_path, checks="", hidden=hidden)
    assert any("fills a leaderboard" in line for line in remarks(assignment))
    assert not any("leaderboard" in line for line in remarks(tiny_assignment(tmp_path / "other")))
