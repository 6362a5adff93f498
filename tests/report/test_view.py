"""What students are told of a check, and what a hidden one keeps to itself."""

from autograder.report.view import check_view, explained, for_students, notes_for_students, staff_notes, student_view
from autograder.results import Crashed, Explanation, Lateness, NotHandedIn, Ours, Raised, WrongForm
from tests.report.grades import EXPLANATION, check, grade, passed

RAISED = Raised(function="softmax", kinds=("ValueError",), message="SEEN", frames="attention.py, line 3")
BARE = Explanation(property="PROPERTY", case="softmax(1)", read="handout 2.3")


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
    assert check_view(check(hidden=True, output="tensor([0.1234])")).printed == ""


def test_a_check_that_broke_on_our_side_says_so_and_nothing_else() -> None:
    told = for_students(check(outcome="broken", reason=Ours(error="KeyError"), explanation=None, staff="KeyError"))
    assert told is not None and "not your fault" in told.cause and told.property == "Rows sum to 1"


def test_what_student_code_raised_stands_where_a_value_would_with_its_frames() -> None:
    told = for_students(check(reason=RAISED, explanation=BARE))
    assert told is not None and told.got == "ValueError: SEEN\nattention.py, line 3" and told.case == "softmax(1)"


def test_of_a_hidden_check_the_kind_of_an_exception_is_its_cause() -> None:
    told = for_students(check(reason=RAISED, explanation=BARE, hidden=True))
    assert told == Explanation(property="PROPERTY", cause="Your code raised ValueError.", read="handout 2.3")


def test_a_cause_that_was_found_comes_before_what_the_reason_says() -> None:
    told = for_students(check(reason=RAISED, hidden=True))
    assert told is not None and told.cause == "The scale is missing."


def test_a_value_that_a_check_trips_over_is_shown_with_what_it_means() -> None:
    told = explained(check(reason=WrongForm(), explanation=Explanation(property="p", got="5")))
    assert told is not None and told.got == "5" and "another form" in told.cause


def test_where_the_author_hides_errors_no_reason_is_told() -> None:
    told = for_students(check(reason=RAISED, hide_errors=True, explanation=Explanation(property="p", cause="AUTHOR")))
    assert told == Explanation(property="p", cause="AUTHOR")


def test_how_a_hidden_check_made_code_exit_is_not_told() -> None:
    told = for_students(check(reason=Crashed(status=41), explanation=BARE, hidden=True))
    assert told is not None and "41" not in told.cause and "ended its own process" in told.cause


def test_each_check_of_a_part_is_told_alone_or_together() -> None:
    absent = check("1.1", part="tokens", outcome="missing", reason=NotHandedIn(file="tokens.py"))
    parts = student_view(grade(absent, passed("2.1"), check("2.2"))).parts
    assert [(part.name, len(part.together), [each.number for each in part.alone]) for part in parts] == [
        ("tokens", 1, []),
        ("attention", 0, ["2.1", "2.2"]),
    ]


def test_what_lateness_costs_and_how_memory_was_judged_are_notes() -> None:
    late = Lateness(percent=20, sentence="LATE", staff="NO TIME")
    graded = grade(passed("5.1e", unweighed="nobody keeps it here"), notes=("RENAMED",), staff=("STAFF",), late=late)
    notes = notes_for_students(graded)
    assert (notes[0], notes[2]) == ("RENAMED", "LATE") and notes[1].startswith("In 5.1e memory is judged by the")
    assert staff_notes(graded) == ("STAFF", "NO TIME")
