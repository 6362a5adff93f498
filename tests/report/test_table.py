"""The table of many grades."""

import io

from rich.console import Console

from autograder.report.table import points_text, print_table, stood_out, table_row
from autograder.results import (
    CheckResult,
    Explanation,
    Grade,
    ImportFailed,
    Lateness,
    NotHandedIn,
    NotImplementedYet,
    Raised,
    Reason,
    TimedOut,
    outcome_of,
)
from tests.report.grades import check, grade, passed, ungraded


def printed(*grades: Grade) -> list[str]:
    file = io.StringIO()
    print_table(list(map(table_row, grades)), Console(file=file))
    return [line.rstrip() for line in file.getvalue().splitlines()]


def test_a_row_shows_points_of_each_part_and_the_total() -> None:
    header, row = printed(grade(passed(), submission="student_01"))
    assert header.split() == ["submission", "attention", "total", "what", "stood", "out"]
    assert row.split() == ["student_01", "2/22", "2/22"]


def test_rows_keep_the_order_they_were_given_in() -> None:
    assert [line.split()[0] for line in printed(grade(submission="b"), grade(submission="a"))[1:]] == ["b", "a"]


def test_without_a_terminal_a_long_reason_stays_on_one_line() -> None:
    assert printed(ungraded("x" * 100))[1].endswith("x" * 100)


def test_names_are_no_markup_and_no_control_sequences() -> None:
    assert printed(grade(submission="[red]\x1b[31ma[/red]"))[1].startswith(r"[red]\x1b[31ma[/red]")


def test_what_late_work_costs_is_seen() -> None:
    late = grade(passed(), points=1.6, late=Lateness(percent=20, sentence="Handed in late."))
    assert stood_out(late) == "late: 20 % off"
    assert stood_out(grade(passed(), late=Lateness())) == ""


def test_what_nobody_could_grade_has_no_points_but_a_reason() -> None:
    row = printed(grade(passed()), ungraded("no zip"))[2]
    assert row.split() == ["student_03", "-", "-/22", "ungraded:", "no", "zip"]


def test_crashes_time_outs_and_missing_functions_stand_out_by_number() -> None:
    graded = grade(
        check("2.1", outcome="timed_out"),
        check("2.2", outcome="crashed"),
        check("2.3", outcome="crashed"),
        check("2.4", outcome="missing"),
        check("2.5", outcome="not_run"),
        check("2.6"),
    )
    assert stood_out(graded) == "crashed: 2.2, 2.3; timed out: 2.1; lacks a function: 2.4; not run: 2.5"


def test_a_check_of_ours_that_broke_stands_first() -> None:
    graded = grade(
        check("2.1", outcome="crashed"), check("2.2", outcome="broken"), status="incomplete", reason="check 2.2 broke"
    )
    assert stood_out(graded) == "incomplete (check 2.2 broke); a check of ours broke: 2.2; crashed: 2.1"


def test_the_untouched_starter_is_called_so() -> None:
    assert stood_out(grade(check("2.1", outcome="missing"), check("2.2", outcome="missing"))) == "nothing implemented"


def test_nothing_stands_out_where_checks_just_failed_or_passed() -> None:
    assert stood_out(grade(check("2.1"), passed("2.2"))) == ""


def test_a_long_list_of_numbers_is_cut() -> None:
    graded = grade(passed("2.1"), *(check(f"2.{number}", outcome="crashed") for number in range(2, 12)))
    assert stood_out(graded) == "crashed: 2.2, 2.3, 2.4, 2.5, 2.6, 2.7 and 4 more"


def test_points_are_written_as_people_do() -> None:
    assert [points_text(points) for points in (22.0, 17.5, 0.1 + 0.2, 0.0, None)] == ["22", "17.5", "0.3", "0", "-"]


def test_a_bonus_that_was_left_out_is_nothing_to_look_at() -> None:
    assert stood_out(grade(passed(), check("2.28", outcome="missing", weight=0.0))) == ""
    assert stood_out(grade(passed(), check("2.28", outcome="crashed", weight=0.0))) == "crashed: 2.28"


def test_a_part_that_was_not_handed_in_is_said_once() -> None:
    graded = grade(passed(), *(check(f"1.{n}", outcome="missing", part="tokens") for n in range(1, 9)))
    assert stood_out(graded) == "nothing of tokens"


def told(number: str, reason: Reason, part: str = "attention") -> CheckResult:
    explanation = Explanation(property="p")
    return check(number, outcome=outcome_of(reason), part=part, reason=reason, explanation=explanation)


def test_a_part_that_does_not_import_says_why_once() -> None:
    raised = Raised(kinds=("ModuleNotFoundError",), message="No module named 'google'", frames="attention.py, line 3")
    why = ImportFailed(part="attention", why=raised)
    graded = grade(*(told(f"2.{n}", why) for n in range(1, 9)), passed("1.1", part="tokens"))
    assert stood_out(graded) == "attention.py does not import: ModuleNotFoundError: No module named 'google'"


def test_an_import_that_was_stopped_says_so() -> None:
    why = ImportFailed(part="attention", why=TimedOut(of="cpu", seconds=20))
    assert stood_out(grade(told("2.1", why))).startswith("attention.py does not import: Your code computed")


def test_of_several_parts_that_were_not_handed_in_those_are_named_that_were() -> None:
    absent = [told(f"{n}.1", NotHandedIn(file="x.py"), part) for n, part in ((1, "tokens"), (3, "positions"))]
    assert stood_out(grade(*absent, passed())) == "handed in: attention"
    untouched = told("4.1", NotImplementedYet(function="aggregate"), "message_passing")
    assert stood_out(grade(*absent, passed(), untouched)) == (
        "handed in: attention, message_passing; nothing of message_passing"
    )


def test_memory_that_ran_out_is_called_so() -> None:
    allocator = "[enforce fail at alloc_cpu.cpp:117] . DefaultCPUAllocator: can't allocate memory"
    raised = [Raised(kinds=("RuntimeError",), message=allocator), Raised(kinds=("MemoryError",))]
    graded = grade(passed(), *(told(f"2.2{n}", reason) for n, reason in enumerate(raised)))
    assert stood_out(graded) == "out of memory: 2.20, 2.21"


def test_what_was_edited_and_what_was_kept_stand_out() -> None:
    assert stood_out(grade(passed(), staff=("edited: x", "nothing to see", "earlier: y"))) == "edited: x; earlier: y"


def test_what_is_ambiguous_stands_first() -> None:
    graded = grade(check("2.2", outcome="crashed"), staff=("x", "ambiguous: two files could be attention.py"))
    assert stood_out(graded) == "ambiguous: two files could be attention.py; crashed: 2.2"
