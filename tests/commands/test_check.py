"""`softmark check`: what its last line says, bonus checks, and leaving it in the middle."""

from __future__ import annotations

import pytest

from autograder.commands.check import assignment_of, practise
from autograder.errors import SoftmarkError
from tests.tiny import ONE_CHECK, tiny_assignment

BONUS = """
@number("1.2")
@weight(0)
def test_a_bonus(student):
    \"\"\"Doubling gives a float\"\"\"
    assert student.double(1) == 3, "not three"
"""
RIGHT = "def double(x):\n    return 2 * x\n"


def starter(tmp_path, source, checks=ONE_CHECK, points=2):
    tiny_assignment(tmp_path, checks, points=points)
    folder = tmp_path / "starter_code" / "tiny"
    folder.mkdir(parents=True)
    (folder / "numbers_part.py").write_text(source)
    return folder


def test_the_last_line_says_how_many_points_hidden_checks_hold(tmp_path, capsys):
    assert practise(starter(tmp_path, RIGHT, points=5.5), None, True) == 0
    printed = capsys.readouterr()
    last = printed.out.strip().splitlines()[-1]
    assert last == "visible checks: 2 of 2 points; 3.5 more points of numbers_part are in hidden checks"
    assert printed.err == "1.1 Doubling gives twice the number\n"


def test_without_hidden_points_it_says_nothing_of_them(tmp_path, capsys):
    practise(starter(tmp_path, RIGHT), None, True)
    assert capsys.readouterr().out.strip().splitlines()[-1] == "visible checks: 2 of 2 points"


def test_a_bonus_that_fails_is_no_failure(tmp_path, capsys):
    assert practise(starter(tmp_path, RIGHT, ONE_CHECK + BONUS), None, True) == 0
    assert "1.2   bonus, not there yet" in capsys.readouterr().out


@pytest.mark.parametrize("error", ["bdb.BdbQuit", "KeyboardInterrupt"])
@pytest.mark.parametrize("where", ["def double(x):\n    raise", "raise"])
def test_leaving_the_debugger_and_ctrl_c_end_the_run(tmp_path, capsys, error, where):
    assert practise(starter(tmp_path, f"import bdb\n{where} {error}\n"), None, True) == 130
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.endswith("softmark: stopped, nothing more is checked.\n")


def test_without_the_solutions_it_says_first_what_cannot_run(tmp_path, capsys):
    folder = starter(tmp_path, RIGHT)
    (tmp_path / "solutions" / "tiny" / "numbers_part.py").unlink()
    assert practise(folder, None, True) == 1
    assert capsys.readouterr().err.startswith(
        "softmark: the reference solution of numbers_part.py is not here, so that"
    )


def test_in_a_wrong_folder_the_right_ones_are_named(tmp_path):
    starter(tmp_path, RIGHT)
    with pytest.raises(SoftmarkError, match=r"run this in a folder of .*starter_code \(tiny\)"):
        assignment_of(tmp_path)


def test_with_no_starter_code_above_those_beside_the_program_are_named(tmp_path):
    with pytest.raises(SoftmarkError, match="08_transformers"):
        assignment_of(tmp_path)
