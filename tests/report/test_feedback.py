"""feedback.html: what it says, in a real browser on a phone and a desk, and that it fetches nothing."""

from __future__ import annotations

from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from autograder.report.feedback import feedback_page
from autograder.results import Explanation, ImportFailed, Lateness, NotImplementedYet, PartPoints, Raised
from tests.browser import needs_browser, seen
from tests.report.grades import check, grade, passed, ungraded

LONG = "x" * 700
MARKUP = "</pre><script>alert(1)</script><img src=http://example.org/a.png onerror=alert(2)>"
UNIMPORTABLE = ImportFailed(
    part="tokens", why=Raised(kinds=("SyntaxError",), message="never closed", frames="tokens.py, line 3\n    f(")
)


def whole():
    """A grade with one of each: failed, hidden, a bonus, a failed import, what is missing, what passes."""
    return grade(
        passed("2.1"),
        check("2.2", output=MARKUP + LONG, explanation=Explanation(property="Rows sum to 1", got=LONG, expected="`1`")),
        check("2.3", hidden=True, explanation=Explanation(property="p", case="SECRET", got="SECRET", cause="CAUSE")),
        check("2.4", weight=0.0, title="A bonus"),
        check("1.1", part="tokens", reason=UNIMPORTABLE, outcome="not_run", explanation=None),
        check("3.1", part="rope", reason=NotImplementedYet(function="rope"), outcome="missing", explanation=None),
        parts=(
            PartPoints(part="tokens", number=1, points=0, maximum=2),
            PartPoints(part="attention", number=2, points=2, maximum=8),
        ),
        notes=("A note on `attention.py`.",),
    )


def text(page: str) -> str:
    """What a reader sees, without markup."""
    pieces: list[str] = []

    class Reader(HTMLParser):
        def handle_data(self, data: str) -> None:
            pieces.append(data)

    Reader().feed(page.partition("</head>")[2])
    return " ".join(" ".join(pieces).split())


def test_failures_stand_before_what_passes_and_a_bonus_after_what_counts() -> None:
    said = text(feedback_page(whole()))
    places = [said.index(word) for word in ("What to look at", "2.2 ", "2.4 ", "What passes", "2.1 ")]
    assert places == sorted(places)


def test_a_hidden_check_tells_its_cause_and_no_case() -> None:
    said = text(feedback_page(whole()))
    assert "CAUSE" in said and "SECRET" not in said


def test_what_several_checks_share_is_said_once() -> None:
    said = text(feedback_page(whole()))
    assert said.count("tokens.py does not import: SyntaxError: never closed") == 1
    assert said.count("tokens.py, line 3 f(") == 1 and said.count("not implemented yet: rope") == 1


def test_what_a_student_wrote_is_no_markup() -> None:
    page = feedback_page(whole())
    assert "<script" not in page and "<img" not in page and MARKUP in text(page)


def test_late_work_is_a_line_so_that_the_parts_add_up() -> None:
    late = feedback_page(grade(passed(), points=1.5, late=Lateness(percent=25.0, sentence="One day late.")))
    assert "late -0.5" in text(late) and "1.5 of" in text(late)


def test_what_nobody_could_grade_says_why() -> None:
    assert "Could not be graded work.zip is no zip archive." in text(feedback_page(ungraded()))


def test_at_home_the_sum_says_what_it_leaves_out_and_a_block_stands_before_the_checks() -> None:
    page = feedback_page(whole(), "hidden checks: 3 points", "<aside>FOR STAFF</aside>")
    said = text(page)
    assert "points here hidden checks: 3 points" in said and said.index("FOR STAFF") < said.index("What to look at")


@needs_browser
@pytest.mark.parametrize(("width", "dark"), [(360, False), (360, True), (1200, False), (1200, True)])
def test_in_a_browser_it_fits_complains_of_nothing_and_asks_for_nothing(tmp_path: Path, width: int, dark: bool) -> None:
    page = tmp_path / "feedback.html"
    page.write_text(feedback_page(whole()), encoding="utf-8")
    found = seen(page, width, dark=dark)
    assert found.console == [] and found.asked == []
    assert found.facts["wide"] <= width and found.facts["doubles"] == 0
    assert (found.facts["paper"] == "rgb(21, 24, 28)") == dark
    steps = found.facts["headings"]
    assert steps[0] == 1 and all(after - before <= 1 for before, after in pairwise(steps))
    assert found.facts["focus"] == 3  # the skip link, what was printed, and where the import failed


@needs_browser
def test_the_browser_would_tell_of_a_request_and_of_a_complaint(tmp_path: Path) -> None:
    page = tmp_path / "other.html"
    page.write_text("<img src='http://example.org/a.png'><script>console.error('no')</script>")
    found = seen(page, 360)
    assert found.asked == ["http://example.org/a.png"] and "no" in found.console[0]
