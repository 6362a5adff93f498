"""The five lines of a failing check: their order, their bounds, and what a hidden check keeps to itself."""

from autograder.report.lines import explanation_text, for_students, labelled, printed_for_students, printed_text
from autograder.results import Explanation
from tests.report.grades import EXPLANATION, check, passed


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


def test_a_hidden_check_tells_property_cause_and_where_to_read() -> None:
    told = for_students(check(hidden=True))
    assert told == Explanation(property=EXPLANATION.property, cause=EXPLANATION.cause, read=EXPLANATION.read)


def test_a_check_whose_decorator_alone_says_hidden_is_hidden() -> None:
    told = for_students(check(visibility="hidden"))
    assert told is not None and told.got == "" and told.expected == "" and told.case == ""


def test_a_visible_check_tells_everything() -> None:
    assert for_students(check()) == EXPLANATION


def test_nothing_is_explained_where_a_check_passed() -> None:
    assert for_students(passed(hidden=True)) is None


def test_prints_in_a_hidden_check_are_kept_back_because_they_may_show_its_case() -> None:
    assert printed_for_students(check(hidden=True, output="tensor([0.1234])")) == ""


def test_prints_stand_behind_a_bar_line_by_line() -> None:
    assert printed_text("a\n\x1b[2Jb\n", 100) == "printed by the submission\n  | a\n  | \\x1b[2Jb"


def test_no_heading_stands_over_no_prints() -> None:
    assert printed_text(" \n\n", 100) == ""


def test_a_check_that_broke_on_our_side_says_so_and_nothing_else() -> None:
    told = for_students(check(outcome="broken", explanation=None, staff="KeyError in the check"))
    assert told is not None and "not your fault" in told.cause and told.property == "Rows sum to 1"
