"""A class on one page: what it counts, what it does not show, and that it works in a browser and asks for nothing."""

from __future__ import annotations

import html
import json
import re
import subprocess
from pathlib import Path

from autograder.report.class_page import Class, class_page, staff_block
from autograder.results import Explanation, Grade, Submitter, TimedOut
from tests.browser import _QUIET, CHROMIUM, needs_browser
from tests.report.grades import check, grade, passed, ungraded

CAUSE = Explanation(property="p", cause="The scale is <missing>.")
_DRIVE = """<!doctype html><body><iframe id="page" src="{name}" width="1200" height="800"></iframe><script>
window.onload = () => {{
  const inner = document.getElementById("page").contentDocument;
  const names = () => [...inner.querySelectorAll("#all tbody tr")].filter(row => !row.hidden).map(
    row => row.cells[0].textContent);
  const head = title => [...inner.querySelectorAll("#all thead button")].find(each => each.textContent === title);
  const said = {{ first: names().slice(0, 3) }};
  head("total").click(); said.rising = names().slice(0, 3);
  head("total").click(); said.falling = names().slice(0, 3);
  head("submission").click(); said.byName = names().slice(0, 3);
  const search = inner.getElementById("search");
  search.value = "student_7 person"; search.dispatchEvent(new Event("input")); said.found = names();
  said.count = inner.getElementById("count").textContent;
  said.asked = inner.defaultView.performance.getEntriesByType("resource").map(each => each.name);
  document.body.innerHTML = '<pre id="said"></pre>';
  document.getElementById("said").textContent = JSON.stringify(said);
}};</script></body>"""


def class_of(*grades: Grade) -> Class:
    found = Class()
    for each in grades:
        found.add(each)
    return found


def member(number: int, points: float, **fields: object) -> Grade:
    who = (Submitter(name=f"Person {number}", email=f"p{number}@x.edu"),)
    return grade(passed(), points=points, submission=f"student_{number}", submitters=who, **fields)


def test_it_counts_checks_mistakes_and_what_ended_badly() -> None:
    slow = check("2.2", outcome="timed_out", reason=TimedOut(of="cpu", seconds=10))
    page = class_page(
        class_of(
            grade(check("2.1", explanation=CAUSE), slow, submission="a"),
            grade(check("2.1", explanation=CAUSE), passed("2.2"), submission="b"),
            ungraded(submission="c"),
        )
    )
    assert "2 of 3; 1 without a whole grade" in page
    assert re.search(r"<b>2</b> The scale is &lt;missing&gt;\. .*\(2\.1: a, b\)", page)
    assert "Time-outs: 1" in page and "<li>a (2.2)</li>" in page
    assert re.search(r"2\.1</th>.*?0 %.*?2 failed", page, re.DOTALL) and re.search(r"2\.2</th>.*?50 %", page, re.DOTALL)


def test_without_names_nothing_of_a_person_is_there() -> None:
    page = class_page(class_of(member(7, 3, staff=("ambiguous: of Person 7",))), anonymous=True, link=lambda name: name)
    for word in ("Person", "student_7", "p7@x.edu"):
        assert word not in page
    assert "submission 1" in page
    two = class_page(class_of(member(1, 3), member(2, 9)), anonymous=True)
    assert re.findall(r"<td>submission (\d)</td>.*?>([39])<", two) == [("1", "9"), ("2", "3")]


def test_what_students_wrote_is_text() -> None:
    page = class_page(class_of(grade(passed(title="<img src=x>"), submission="<script>alert(1)</script>")))
    assert "<img" not in page and "<script>alert" not in page
    block = staff_block(grade(check("2.1", staff="</details><script>"), submission="x"), [("attempt", "<b>")])
    assert "<script>" not in block and "<b>" not in block


@needs_browser
def test_five_hundred_are_sorted_and_searched_in_a_browser_and_nothing_is_fetched(tmp_path: Path) -> None:
    found = class_of(*(member(n, n % 23) for n in range(1, 501)))
    (tmp_path / "report.html").write_text(class_page(found), encoding="utf-8")
    (tmp_path / "drive.html").write_text(_DRIVE.format(name="report.html"), encoding="utf-8")
    assert CHROMIUM is not None
    command = [CHROMIUM, *_QUIET, f"--user-data-dir={tmp_path / 'browser'}", "--dump-dom"]
    done = subprocess.run(
        [*command, (tmp_path / "drive.html").as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    told = re.search(r'<pre id="said">(.*?)</pre>', done.stdout, re.DOTALL)
    assert told, done.stderr
    said = json.loads(html.unescape(told[1]))
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    assert said.pop("asked") == []
    assert said == {
        "first": ["student_1", "student_2", "student_3"],
        "rising": ["student_23", "student_46", "student_69"],
        "falling": ["student_22", "student_45", "student_68"],
        "byName": ["student_1", "student_2", "student_3"],
        "found": ["student_7", *(f"student_{n}" for n in range(70, 80))],
        "count": "11 of 500",
    }
