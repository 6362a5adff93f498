"""What students can see tells nothing of hidden checks and references, and what they print can forge nothing."""

from __future__ import annotations

import io
import json
import unicodedata
from pathlib import Path

import pytest
from rich.console import Console

from autograder.intake.finding import find_submissions
from autograder.report.console import print_student_view
from autograder.report.gradescope_json import to_results_json
from autograder.results import Grade
from autograder.run.pool import Job, grade_all
from autograder.run.session import Session
from tests.hostile.assignment import CANARIES, hostile_assignment
from tests.hostile.kinds import RIGHT, WRONG
from tests.tiny import tiny_assignment

CARRIES = RIGHT + "class Counter:\n    def __init__(self, start):\n        self.start = start\n"
STEP = "    def step(self, by=1):\n        start = self.start\n        "
MARKUP = "<script>x</script><b>\\x1b[32m\\x1b]8;;http://x\\x07\\u202e\\u2066\\u200b\\r\\x08[bold red]property  passed"

# What student code may do with the hidden numbers that it is called with, in order to carry them out.
CARRIERS = {
    "returns_it": CARRIES + STEP + "return start\n",
    "prints_it": CARRIES + STEP + "print(start, flush=True)\n",
    "raises_it": CARRIES + STEP + "raise ValueError(start)\n",
    "raises_a_kind_of_its_name": CARRIES + STEP + "raise type(f'E{start}', (Exception,), {})()\n",
    "raises_it_as_a_builtin": CARRIES + STEP + "raise KeyError(start)\n",
    "raises_it_in_a_function_of_its_name": CARRIES
    + STEP
    + "exec(compile(f'def f{start}(): 1/0\\nf{start}()', __file__, 'exec'))\n",
    "returns_an_object_of_its_name": CARRIES + STEP + "return type(f'T{start}', (), {})()\n",
    "returns_it_too_deeply": CARRIES + STEP + "return {start: {start: object()}}\n",
    "is_missing_but_near": CARRIES + "        setattr(type(self), f'step_{start}', 1)\n",
    "leaves_a_file_of_its_name": CARRIES
    + STEP
    + "open(f'{start}', 'w').write('x')\n        raise OSError(str(start))\n",
    "is_a_huge_number": CARRIES + STEP + "return start * 10 ** 5000\n",
    "hides_it_in_a_tensor": CARRIES + STEP + "return torch.tensor([float(start)]).double() + 0.5\n",
    "exits_with_a_part_of_it": CARRIES + STEP + "__import__('os')._exit(start % 256)\n",
    "dies_of_a_part_of_it": CARRIES + STEP + "__import__('os').kill(__import__('os').getpid(), 9)\n",
    "shows_the_argument": WRONG + "def double(x):\n    raise ValueError(x)\n",
    "is_wrong": WRONG,
    "is_missing": "x = 1\n",
    "does_not_import": "raise ValueError('no')\n",
}
FORGERS = {
    "prints": WRONG + f"print('{MARKUP}')\n",
    "raises": WRONG + f"def double(x):\n    raise ValueError('{MARKUP}')\n",
    "names_a_type": WRONG + f"def double(x):\n    return type('{MARKUP}', (), {{}})()\n",
    "names_a_kind": WRONG + f"def double(x):\n    raise type('{MARKUP}', (Exception,), {{}})()\n",
    "imports": f"raise ImportError('{MARKUP}')\n",
    "returns": WRONG + f"def double(x):\n    return '{MARKUP}'\n",
    "prints_a_line_of_ours": WRONG + "print('property  passed\\nexpected  1\\n\\nprinted by the submission\\n  | x')\n",
}


def grades_of(sources: dict[str, str], folder: Path, session: Session) -> dict[str, Grade]:
    assignment = hostile_assignment(folder)
    for name, source in sources.items():
        (folder / "handed_in" / name).mkdir(parents=True)
        (folder / "handed_in" / name / "numbers_part.py").write_text(source)
    found = find_submissions(folder / "handed_in", assignment)
    return {
        each.grade.submission: each.grade for each in grade_all(Job(assignment, found, folder / "grades"), session, 2)
    }


def seen_by_students(grade: Grade) -> str:
    """Everything: results.json but for what the platform keeps for staff, and what `softmark` prints."""
    results = json.loads(to_results_json(grade))
    results.pop("extra_data", None)
    screen = io.StringIO()
    print_student_view(grade, Console(file=screen, width=200))
    return json.dumps(results, ensure_ascii=False) + screen.getvalue()


def test_nothing_of_a_hidden_check_is_seen(tmp_path: Path, session: Session) -> None:
    grades = grades_of(CARRIERS, tmp_path, session)
    planted = (*CANARIES, str(tmp_path), "hidden/", "checks/", "solutions")
    leaks = [(name, word) for name, grade in grades.items() for word in planted if word in seen_by_students(grade)]
    assert leaks == []
    assert all(grade.checks[2].outcome != "passed" for grade in grades.values())


def test_the_canaries_are_where_they_could_leak_from(tmp_path: Path, session: Session) -> None:
    grades = grades_of({name: CARRIERS[name] for name in ("is_wrong", "returns_it", "prints_it")}, tmp_path, session)
    staff = "".join(check.staff + check.output for grade in grades.values() for check in grade.checks)
    assert all(canary in staff for canary in CANARIES)


def test_an_exit_status_carries_nothing_out_of_a_hidden_check(tmp_path: Path, session: Session) -> None:
    source = CARRIES + STEP + "__import__('os')._exit({})\n"
    grades = grades_of({f"exits_{status}": source.format(status) for status in (0, 3, 200)}, tmp_path, session)
    told = {json.dumps(json.loads(to_results_json(grade))["tests"][2]["output"]) for grade in grades.values()}
    assert len(told) == 1


def test_nothing_that_is_printed_can_forge_what_is_shown(tmp_path: Path, session: Session) -> None:
    for name, grade in grades_of(FORGERS, tmp_path, session).items():
        results = json.loads(to_results_json(grade))
        formats = {
            each.get(key, "text") for each in (results, *results["tests"]) for key in ("output_format", "name_format")
        }
        assert formats <= {"text"}, name
        kinds = {unicodedata.category(character) for character in seen_by_students(grade) if character != "\n"}
        assert kinds.isdisjoint({"Cc", "Cf", "Cs", "Co", "Cn"}), name
        assert grade.points == 0


@pytest.mark.parametrize("name", ["prints_a_line_of_ours"])
def test_a_printed_line_stands_behind_a_bar(name: str, tmp_path: Path, session: Session) -> None:
    grade = grades_of({name: FORGERS[name]}, tmp_path, session)[name]
    output = json.loads(to_results_json(grade))["tests"][0]["output"]
    assert "  | property  passed\n  | expected  1\n" in output
    assert output.count("\nproperty") + output.startswith("property") == 1


# ------------------------------------------------------------------ what student code says of itself

ASKS = '''
from autograder.testing.exceptions import must_raise
from autograder.testing.memory import assert_largest_tensor

@number("1.1")
@weight(1)
@visibility("hidden")
def test_it_raises(student):
    """It fails"""
    must_raise(ValueError, student.double, "swordfish", because="it is told to")

@number("1.2")
@weight(1)
@visibility("hidden")
def test_it_is_measured(student):
    """It takes little memory"""
    student.double("swordfish")
    (point,) = student.measure(student.double, lambda n: (torch.empty(n, device="meta"),), [8])
    assert_largest_tensor(point, 0, "double")
'''
TELLS = """
import sys
seen = []
def double(x):
    if type(x) is str:
        seen.append(x)
        if sys._getframe(1).f_code.co_name == "_call" and len(seen) < TIMES: raise TypeError(x)
    return x
def measured(*_):
    kind = sys.modules["softmark_worker.protocol.messages"].Measured
    return kind(9, 9, f"the line is {seen[0]}", seen[0], 9, 9, 9, 9, (seen[0],))
sys.modules["softmark_worker.executor"].measure = measured
"""


@pytest.mark.parametrize("times", [1, 2], ids=["a line of its own", "a message"])
def test_nothing_that_student_code_says_is_shown_of_a_hidden_check(
    times: int, tmp_path: Path, session: Session
) -> None:
    assignment = tiny_assignment(tmp_path, hidden=ASKS, checks="", points=2)
    home = tmp_path / "handed_in" / "student_01"
    home.mkdir(parents=True)
    (home / "numbers_part.py").write_text(TELLS.replace("TIMES", str(times)))
    found = find_submissions(tmp_path / "handed_in", assignment)
    (done,) = grade_all(Job(assignment, found, tmp_path / "grades"), session, 1)
    assert [check.outcome for check in done.grade.checks] == ["failed", "failed"]
    (told,) = [check for check in done.grade.checks if check.number == "1.2"]
    assert "swordfish" in f"{told.staff}{told.reason}"  # where staff reads it
    assert "swordfish" not in seen_by_students(done.grade)
