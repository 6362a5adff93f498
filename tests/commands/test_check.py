"""`softmark check`: what its last line says, bonus checks, and leaving it in the middle."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager

import pytest

from autograder.commands.check import Wish, check_command
from autograder.errors import SoftmarkError
from autograder.run.home import home_of
from tests.tiny import ONE_CHECK, tiny_assignment

BONUS = """
@number("1.2")
@weight(0)
def test_a_bonus(student):
    \"\"\"Doubling gives a float\"\"\"
    assert student.double(1) == 3, "not three"
"""
HERE = Wish(in_process=True)
RIGHT = "def double(x):\n    return 2 * x\n"


def starter(tmp_path, source, checks=ONE_CHECK, points=2):
    tiny_assignment(tmp_path, checks, points=points)
    folder = tmp_path / "starter_code" / "tiny"
    folder.mkdir(parents=True)
    (folder / "numbers_part.py").write_text(source)
    return folder


def test_the_last_line_says_how_many_points_hidden_checks_hold(tmp_path, capsys):
    assert check_command(starter(tmp_path, RIGHT, points=5.5), HERE) == 0
    printed = capsys.readouterr()
    last = printed.out.strip().splitlines()[-1]
    assert last == "visible checks: 2 of 2 points; hidden checks: 3.5 points"
    assert printed.err == "1.1 Doubling gives twice the number\n"


def test_without_hidden_points_it_says_nothing_of_them(tmp_path, capsys):
    check_command(starter(tmp_path, RIGHT), HERE)
    assert capsys.readouterr().out.strip().splitlines()[-1] == "visible checks: 2 of 2 points"


def test_a_bonus_that_fails_is_no_failure(tmp_path, capsys):
    assert check_command(starter(tmp_path, RIGHT, ONE_CHECK + BONUS), HERE) == 0
    assert "1.2   bonus, not there yet" in capsys.readouterr().out


def test_extra_credit_is_told_apart_and_costs_nothing_where_it_fails(tmp_path, capsys):
    checks = ONE_CHECK + BONUS.replace("@weight(0)", "@weight(3)\n@pytest.mark.extra_credit")
    assert check_command(starter(tmp_path, RIGHT, checks), HERE) == 0
    assert capsys.readouterr().out.strip().splitlines()[-1] == "visible checks: 2 of 2 points"
    (tmp_path / "starter_code" / "tiny" / "numbers_part.py").write_text(
        "def double(x):\n    return 3 if type(x) is int else 2 * x\n"
    )
    check_command(tmp_path / "starter_code" / "tiny", HERE)
    last = capsys.readouterr().out.strip().splitlines()[-1]
    assert last == "visible checks: 2 of 2 points, and 3 of extra credit"


@pytest.mark.parametrize("error", ["bdb.BdbQuit", "KeyboardInterrupt"])
@pytest.mark.parametrize("where", ["def double(x):\n    raise", "raise"])
def test_leaving_the_debugger_and_ctrl_c_end_the_run(tmp_path, capsys, error, where):
    assert check_command(starter(tmp_path, f"import bdb\n{where} {error}\n"), HERE) == 130
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.endswith("softmark: stopped, nothing more is checked.\n")


def test_in_a_wrong_folder_the_right_ones_are_named(tmp_path):
    starter(tmp_path, RIGHT)
    with pytest.raises(SoftmarkError, match=r"run this in a folder of .*starter_code \(tiny\)"):
        home_of(tmp_path)


def test_passed_checks_are_one_line_a_part(tmp_path, capsys):
    check_command(starter(tmp_path, RIGHT), HERE)
    assert "numbers_part  1 of 1 passed; 2 of 2 points" in capsys.readouterr().out


def test_where_nothing_is_written_it_says_so_once(tmp_path, capsys):
    two = ONE_CHECK + ONE_CHECK.replace('"1.1"', '"1.2"').replace("test_doubles", "test_again")
    stub = "def double(x):\n    raise NotImplementedError\n"
    assert check_command(starter(tmp_path, stub, two, points=4), HERE) == 1
    printed = capsys.readouterr().out
    assert printed.count("not implemented yet: double") == 1 and "broken" not in printed
    assert "0 of 2 passed, 2 not implemented yet" in printed


def test_what_failed_the_last_time_runs_first_and_alone_if_asked(tmp_path, capsys):
    second = (
        ONE_CHECK.replace('"1.1"', '"1.2"')
        .replace("test_doubles", "test_again")
        .replace("reference.double(x))", "reference.double(x) + 1)")
    )
    folder = starter(
        tmp_path, RIGHT, ONE_CHECK + second.replace("student.double(x),", "student.double(x) + 2,"), points=4
    )
    check_command(folder, HERE)
    capsys.readouterr()
    check_command(folder, HERE)
    assert [line[:3] for line in capsys.readouterr().err.splitlines()] == ["1.2", "1.1"]
    check_command(folder, Wish(failed=True, in_process=True))
    printed = capsys.readouterr()
    assert [line[:3] for line in printed.err.splitlines()] == ["1.2"]
    assert "(those of 2 points more did not run)" in printed.out


def test_what_passing_code_prints_is_shown_when_asked_for(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("autograder.commands.check.profile", lambda: "elsewhere")
    folder = starter(tmp_path, "def double(x):\n    print('so far so good')\n    return 2 * x\n")
    check_command(folder, Wish())
    assert "so far so good" not in capsys.readouterr().out
    check_command(folder, Wish(output=True))
    assert "so far so good" in capsys.readouterr().out


ENDS = {
    "crash": ("import os\ndef double(x):\n    os._exit(7)\n", "crashed"),
    "exception": ("def double(x):\n    raise ValueError('no')\n", "ValueError: no"),
    "import": ("raise RuntimeError('half written')\n", "half written"),
    "nothing": ("", "double"),
}


@pytest.mark.parametrize("kind", ENDS)
def test_on_systems_without_fork_one_spawned_process_does_it_all(tmp_path, monkeypatch, capsys, kind):
    monkeypatch.setattr("autograder.commands.check.profile", lambda: "elsewhere")
    source, said = ENDS[kind]
    folder = starter(tmp_path, source)
    assert check_command(folder, Wish()) == 1
    assert said in capsys.readouterr().out
    (folder / "numbers_part.py").write_text(RIGHT)
    assert check_command(folder, Wish()) == 0


def test_checks_run_without_the_modules_that_only_posix_has(tmp_path):
    folder = starter(tmp_path, RIGHT)
    program = tmp_path / "elsewhere.py"
    program.write_text(
        "import sys\n"
        "for name in ('fcntl', 'resource', 'pwd', 'grp', 'termios', 'pyseccomp', 'landlockpy'):\n"
        "    sys.modules[name] = None\n"
        "from pathlib import Path\n"
        "from autograder.commands import check\n"
        "check.profile = lambda: 'elsewhere'\n"
        "if __name__ == '__main__':\n"
        "    sys.exit(check.check_command(Path(sys.argv[1]), check.Wish()))\n"
    )
    done = subprocess.run([sys.executable, str(program), str(folder)], capture_output=True, text=True)
    assert (done.returncode, "2 of 2 points" in done.stdout) == (0, True), done.stderr


def test_what_was_found_becomes_a_page_if_asked(tmp_path, capsys):
    page = tmp_path / "found.html"
    assert check_command(starter(tmp_path, RIGHT, points=5.5), Wish(in_process=True, page=page)) == 0
    assert "hidden checks: 3.5 points" in page.read_text() and "found.html written" in capsys.readouterr().out


def test_a_hidden_check_that_is_asked_for_is_answered_with_those_of_its_exercise(tmp_path):
    checks = ONE_CHECK.replace('"1.1"', '"1.1a"')
    with pytest.raises(SoftmarkError, match=r"no check '1\.1f' here: of 1\.1 there are 1\.1a; others may be hidden"):
        check_command(starter(tmp_path, RIGHT, checks), Wish(only=["1.1f"], in_process=True))


def test_failed_leaves_out_a_bonus_and_the_sums_call_it_one(tmp_path, capsys):
    folder = starter(tmp_path, RIGHT, ONE_CHECK + BONUS)
    check_command(folder, HERE)
    assert "1 of 2 passed, 1 bonus not there yet" in capsys.readouterr().out
    with pytest.raises(SoftmarkError, match="No check failed the last time"):
        check_command(folder, Wish(failed=True, in_process=True))


def test_where_workers_cannot_read_one_process_does_it_and_says_so(tmp_path, monkeypatch, capsys):
    def closed(_home):
        raise SoftmarkError("Workers cannot read /root: open it.")

    monkeypatch.setattr("autograder.commands.check._in_workers", contextmanager(lambda home: iter([closed(home)])))
    assert check_command(starter(tmp_path, RIGHT), Wish()) == 0
    printed = capsys.readouterr()
    assert "Workers cannot read /root" in printed.err and "1 of 1 passed" in printed.out
