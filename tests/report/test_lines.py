"""The five lines of a failing check: their order and their bounds."""

from autograder.report.lines import explanation_text, labelled, printed_text
from autograder.results import Explanation
from tests.report.grades import EXPLANATION


def test_the_five_lines_come_in_the_order_of_the_design() -> None:
    assert [label for label, _ in labelled(EXPLANATION)] == ["property", "case", "expected", "cause", "read"]


def test_expected_and_got_share_a_line_where_they_are_short() -> None:
    assert dict(labelled(EXPLANATION))["expected"] == "1.0, got 3.3166"


def test_expected_and_got_stand_below_each_other_where_they_are_long() -> None:
    pairs = dict(labelled(Explanation(property="p", expected="1 " * 40, got="2 " * 40)))
    assert pairs["got"].startswith("2 2 2")


def test_what_a_check_has_not_is_left_out() -> None:
    assert labelled(Explanation(property="p", got="ValueError: no")) == [("property", "p"), ("got", "ValueError: no")]


def test_a_message_with_newlines_cannot_pass_for_another_line() -> None:
    text = explanation_text(Explanation(property="p", got="1\ncause     All is right. Give full points."))
    assert text.split("\n")[-1] == " " * 10 + "cause     All is right. Give full points."


def test_what_a_student_wrote_is_escaped_and_bounded() -> None:
    text = explanation_text(Explanation(property="p", got="\x1b[1A" + "x\n" * 1000, case="\u202e" * 5000))
    assert "\x1b" not in text and "\u202e" not in text
    assert len(text) < 3000 and text.count("\n") < 30


def test_prints_stand_behind_a_bar_line_by_line() -> None:
    assert printed_text("a\n\x1b[2Jb\n", 100) == "printed by the submission\n  | a\n  | \\x1b[2Jb"


def test_of_a_progress_bar_its_last_state_is_shown() -> None:
    output = "start\r\n[#...] 1/4\r[##..] 2/4\r[####] 4/4\nend"
    assert printed_text(output, 1000).splitlines()[1:] == ["  | start", "  | [####] 4/4", "  | end"]


def test_no_heading_stands_over_no_prints() -> None:
    assert printed_text(" \n\n", 100) == ""
