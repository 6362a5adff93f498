"""The guides hold: links lead somewhere, code is Python, the example works, printed numbers are what is printed."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import runpy
from pathlib import Path

import pytest

from autograder.assignment.assignment import load_assignment
from autograder.assignment.bank import bank, overlay
from autograder.authoring.audit import audit
from autograder.grading.grader import Grader
from autograder.grading.in_place import InThisProcess
from autograder.sandbox.in_process import InProcessWorker
from tests.running import with_grader

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
IMPORTS = """
import pytest
from gradescope_utils.autograder_utils.decorators import number, weight
from autograder.testing.numbers import assert_close, rounding
"""


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file(page: Path) -> None:
    text = re.sub(r"`[^`\n]+`", "", page.read_text(encoding="utf-8"))  # what is code links to nothing
    links = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_in_a_guide_is_python(page: Path) -> None:
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        ast.parse(block)


def test_the_bound_of_the_guide_leaves_the_room_that_it_says() -> None:
    (source,) = [block for block in blocks("writing-checks.md", "python") if "for _ in range(500)" in block]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, "writing-checks.md", "exec"), {})
    shares = ast.literal_eval(printed.getvalue())
    assert set(shares) == {"by_sum", "by_product"}
    assert all(0 < share < 0.1 for share in shares.values())


def test_the_example_of_the_half_hour_is_sound(tmp_path: Path) -> None:
    reference, check, mistake = (block for block in blocks("new-assignment.md", "python"))
    (part,), (handout,) = blocks("new-assignment.md", "toml"), blocks("new-assignment.md", "markdown")
    home, solutions = tmp_path / "assignments" / "04_pooling", tmp_path / "solutions" / "04_pooling"
    for folder in (home / "checks" / "hidden", solutions / "mistakes" / "pooling"):
        folder.mkdir(parents=True)
    manifest = 'title = "Pooling"\nkey = "k"\n' + part.replace("points = 5", "points = 3")
    (home / "assignment.toml").write_text(manifest)
    (home / "handout.md").write_text(handout)
    (home / "checks" / "test_pooling.py").write_text(IMPORTS + check)
    (solutions / "pooling.py").write_text(reference)
    (solutions / "mistakes" / "pooling" / "divides_by_n.py").write_text(mistake)
    assignment = load_assignment(home)
    assert audit(assignment) == []
    (entry,) = bank(assignment, assignment.part("pooling"))
    outcomes: list[str] = []

    def work(grader: Grader) -> None:
        for name, source in {"right": reference, "wrong": overlay(reference, mistake)}.items():
            (tmp_path / name).mkdir()
            (tmp_path / name / "pooling.py").write_text(source)
            subject = InThisProcess(InProcessWorker(tmp_path / name, ["pooling"]))
            outcomes.extend(check.outcome for check in grader.try_out(name, subject).checks)

    with_grader(assignment, work)
    assert (outcomes, entry.caught_by) == (["passed", "failed"], ("1.1a",))


def test_every_check_that_the_page_of_what_is_varied_names_exists_and_none_with_points_is_left_out() -> None:
    checks = (ROOT / "assignments" / "08_transformers" / "checks").rglob("test_*.py")
    weights = dict(
        pair for path in checks for pair in re.findall(r'@number\("(.+?)"\)\n@weight\((.+?)\)', path.read_text("utf-8"))
    )
    page = (ROOT / "docs" / "what-is-varied.md").read_text("utf-8")
    named = set(re.findall(r"\b\d\.\d[a-z]\b", page))
    for first, last in re.findall(r"(\d\.\d[a-z]) to (\d\.\d[a-z])", page):
        named |= {first[:3] + chr(letter) for letter in range(ord(first[3]), ord(last[3]) + 1)}
    assert named <= set(weights)
    assert {number for number, points in weights.items() if float(points) > 0} - named == set()


def test_the_drawing_of_the_boundary_is_what_its_script_draws() -> None:
    drawn = runpy.run_path(str(ROOT / "scripts" / "pictures.py"))["boundary"]()
    assert (ROOT / "docs" / "pictures" / "boundary.svg").read_text(encoding="utf-8") == drawn
