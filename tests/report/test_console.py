"""One grade in the terminal."""

import io
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from rich.console import Console

from autograder.report.console import print_staff_view, print_student_view
from autograder.results import (
    CheckResult,
    DeadlinePassed,
    Explanation,
    Grade,
    ImportFailed,
    Key,
    NotDefined,
    NotHandedIn,
    NotImplementedYet,
    Ours,
    PartPoints,
    Raised,
    Reason,
    Versions,
)
from tests.report.grades import check, grade, passed, ungraded


def printed(what: Callable[[Grade, Console], None], grade: Grade, width: int = 120) -> str:
    file = io.StringIO()
    what(grade, Console(file=file, width=width))
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def students(grade: Grade, width: int = 120) -> str:
    return printed(print_student_view, grade, width)


def staffs(grade: Grade) -> str:
    return printed(print_staff_view, grade)


def test_a_failing_check_is_five_lines_under_its_number_and_points() -> None:
    text = students(grade(check("2.5")))
    block = text.split("\n\n")[1].split("\n")
    assert block[0] == "2.5   failed    0/2"
    assert [line.split()[0] for line in block[1:] if line] == ["property", "case", "expected", "cause", "read"]


def test_a_passed_check_is_one_line_with_its_title() -> None:
    assert "2.1   passed    2/2  Rows sum to 1" in students(grade(passed("2.1")))


def test_points_stand_first() -> None:
    assert students(grade(passed(), check("2.2"))).startswith("student_03: 2 of 22 points\n")


def test_parts_are_listed_where_there_are_several() -> None:
    parts = (
        PartPoints(part="tokens", number=1, points=3, maximum=18),
        PartPoints(part="attention", number=2, points=2, maximum=22),
    )
    text = students(grade(passed(), parts=parts))
    assert "tokens     3 of 18" in text and "attention  2 of 22" in text


def test_a_bonus_check_is_called_so_instead_of_points() -> None:
    assert "2.9   bonus, not there yet\n" in students(grade(check("2.9", weight=0.0)))
    text = students(grade(passed("2.9", weight=0.0, score=0.0)))
    assert "2.9   passed    bonus  Rows sum to 1" in text


def test_outcomes_are_words() -> None:
    text = students(grade(check("2.1", outcome="timed_out"), check("2.2", outcome="not_run")))
    assert "2.1   timed out 0/2" in text and "2.2   not run   0/2" in text


def test_a_hidden_check_shows_a_student_no_case_no_numbers_and_no_prints() -> None:
    text = students(grade(check(hidden=True, output="PRINTED")))
    assert "hidden" in text and "The scale is missing." in text
    assert "3.3166" not in text and "scaled_dot_product" not in text and "PRINTED" not in text


def test_a_hidden_check_shows_staff_everything() -> None:
    text = staffs(grade(check(hidden=True, output="PRINTED", staff="Mismatch in row 3")))
    assert "3.3166" in text and "PRINTED" in text and "Mismatch in row 3" in text


def test_what_is_for_staff_is_not_in_the_students_view() -> None:
    graded = grade(check(staff="STAFF-1"), staff=("STAFF-2",), sandbox={"STAFF-3": "on"})
    assert "STAFF" not in students(graded)
    assert all(f"STAFF-{n}" in staffs(graded) for n in (1, 2, 3))


def test_staff_sees_versions_and_times() -> None:
    key = Key(submission="a", assignment="b", grader="c", versions=Versions(softmark="0.1", torch="2.6", python="3.10"))
    text = staffs(grade(check(outcome="timed_out", cpu_seconds=1.25, wall_seconds=2.5), key=key))
    assert "torch 2.6" in text and "1.25 s of CPU, 2.5 s in all" in text


def test_what_nobody_could_grade_gives_its_reason_and_no_points() -> None:
    text = students(ungraded("work.zip is no zip archive. Hand in a zip."))
    assert "could not be graded" in text and "work.zip is no zip archive." in text
    assert "0 of" not in text


def test_an_incomplete_grade_says_so() -> None:
    assert "not complete" in students(grade(passed(), status="incomplete"))


def test_notes_are_shown() -> None:
    assert "note: attn.py was taken for attention.py" in students(grade(notes=("attn.py was taken for attention.py",)))


def test_nothing_that_a_student_wrote_is_markup_or_a_control_sequence() -> None:
    bad = "[bold]\x1b[2J\u202e:smile:[/bold]"
    graded = grade(check(output=bad, explanation=Explanation(property="p", got=bad)), submission=bad, notes=(bad,))
    text = students(graded)
    assert "\x1b" not in text and "\u202e" not in text
    assert text.count(r"[bold]\x1b[2J\u202e:smile:[/bold]") == 4


def test_a_long_line_continues_below_itself() -> None:
    text = students(grade(check(explanation=Explanation(property="word " * 30))), width=60)
    lines = [line for line in text.split("\n") if "word" in line]
    assert len(lines) > 2 and all(line.index("word") == lines[0].index("word") for line in lines)


def test_prints_are_cut_to_a_few_lines() -> None:
    text = students(grade(check(output="line\n" * 10_000)))
    assert "lines left out" in text and text.count("\n") < 30


NO_GOOGLE = Raised(
    kinds=("ModuleNotFoundError", "ImportError"),
    message="No module named 'google'",
    frames="attention.py, line 3\n    import google.colab",
)


def failed_import(number: str, **fields: Any) -> CheckResult:
    explanation = Explanation(property="p", case="softmax(CASE)", cause="CAUSE")
    reason = ImportFailed(part="attention", why=NO_GOOGLE)
    return check(number, outcome="not_run", reason=reason, explanation=explanation, **fields)


def missing(number: str, reason: Reason, **fields: Any) -> CheckResult:
    return check(number, outcome="missing", reason=reason, explanation=Explanation(property="PROPERTY"), **fields)


def test_a_failed_import_is_told_once_with_its_frames_and_the_checks_not_run() -> None:
    checks = [failed_import(f"2.{n}", hidden=n == 1) for n in range(1, 9)]
    text = students(grade(*checks))
    assert text.count("attention.py does not import: ModuleNotFoundError: No module named 'google'\n") == 1
    assert text.count("attention.py, line 3\n          import google.colab") == 1
    assert "not run: 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 2.7, 2.8" in text
    assert len(text.split("\n")) < 12


def test_a_failed_import_of_hidden_checks_alone_tells_their_cause() -> None:
    text = students(grade(failed_import("2.1", hidden=True)))
    assert "attention.py does not import: CAUSE" in text and "google" not in text


def test_an_exception_that_speaks_of_an_import_is_none() -> None:
    raised = Raised(kinds=("ValueError",), message="Importing attention.py failed, so none of its checks could run: x")
    text = students(grade(check(reason=raised, explanation=Explanation(property="p"))))
    assert "does not import" not in text and "got       ValueError: Importing" in text


def test_a_function_that_is_not_there_is_one_line() -> None:
    unwritten = [missing(f"2.{n}", NotImplementedYet(function="softmax"), hidden=n == 2) for n in (1, 2, 3)]
    renamed = missing("2.4", NotDefined(function="causal_mask", file="attention.py", near="mask"))
    text = students(grade(*unwritten, renamed))
    assert "not implemented yet: softmax (2.1, 2.2, 2.3)\n" in text
    assert "not defined in attention.py: causal_mask (2.4) Did you mean mask, which is there?" in text
    assert "PROPERTY" not in text


def test_of_hidden_checks_alone_no_name_of_the_submission_is_told() -> None:
    renamed = missing("2.4", NotDefined(function="causal_mask", file="attention.py", near="mask"), hidden=True)
    assert "Did you mean" not in students(grade(renamed))


def test_a_bonus_that_was_not_written_is_called_so() -> None:
    text = students(grade(passed(), missing("2.9", NotImplementedYet(function="alibi"), weight=0.0)))
    assert "bonus, not there yet: alibi (2.9)" in text


def test_a_part_of_which_nothing_was_handed_in_is_one_line() -> None:
    checks = [missing(f"1.{n}", NotHandedIn(file="tokens.py"), part="tokens") for n in range(1, 9)]
    text = students(grade(*checks, passed()))
    assert "tokens: nothing was handed in (8 checks, 16 points)\n" in text and "1.2" not in text


def test_checks_after_the_deadline_are_told_together() -> None:
    checks = [
        check(f"2.{n}", outcome="not_run", reason=DeadlinePassed(seconds=540), explanation=Explanation(property="p"))
        for n in (1, 2)
    ]
    assert students(grade(*checks)).count("Not run, because") == 1


def test_a_long_title_continues_under_itself_and_no_line_is_padded() -> None:
    file = io.StringIO()
    graded = grade(passed(title="word " * 20), check("2.2"), status="incomplete")
    print_student_view(graded, Console(file=file, width=60))
    lines = file.getvalue().split("\n")
    titles = [line for line in lines if "word" in line]
    assert len(titles) > 1 and len({line.index("word") for line in titles}) == 1
    assert all(line == line.rstrip() for line in lines)


def test_prints_are_shown_only_where_a_check_did_not_pass() -> None:
    text = students(grade(passed(output="PASSED"), check("2.2", output="FAILED")))
    assert "PASSED" not in text and "FAILED" in text


def test_a_half_done_submission_stays_short() -> None:
    checks = [passed(f"2.{n}") for n in range(1, 14)] + [check(f"2.{n}") for n in range(14, 22)]
    checks += [missing(f"2.{n}", NotImplementedYet(function="MultiHeadAttention")) for n in range(22, 29)]
    checks += [missing(f"1.{n}", NotHandedIn(file="tokens.py"), part="tokens") for n in range(1, 24)]
    text = students(grade(*checks), width=80)
    assert len(text.split("\n")) < 100


def test_staff_is_not_told_again_what_the_student_view_says() -> None:
    told = Explanation(property="p", expected="1.0", got="weights: 3.3166", cause="The scale is missing.")
    graded = grade(passed(), check("2.2", explanation=told), missing("2.3", NotImplementedYet(function="softmax")))
    text = staffs(graded)
    assert "2.1" not in text and "2.2" not in text and "2.3" not in text
    assert text.startswith("For staff: student_03\nstatus")


def test_staff_reads_of_a_hidden_check_only_what_was_kept_back() -> None:
    text = staffs(grade(check(hidden=True)))
    assert "3.3166" in text and "scaled_dot_product" in text
    assert "The scale is missing." not in text


def test_staff_sees_what_student_code_raised_where_its_author_hides_it() -> None:
    raised = Raised(kinds=("KeyError",), message="'MASK'")
    hidden = check(reason=raised, hide_errors=True, explanation=Explanation(property="p", cause="look at the factor"))
    assert "KeyError: 'MASK'" in staffs(grade(hidden))
    assert "KeyError" not in students(grade(hidden)) and "look at the factor" in students(grade(hidden))


def test_staff_sees_frames_and_faults_of_ours() -> None:
    fault = check(outcome="broken", explanation=None, reason=Ours(error="GraderError: no worker"))
    assert "GraderError: no worker" in staffs(grade(fault))
    assert "not your fault" in students(grade(fault)) and "GraderError" not in students(grade(fault))


def test_showing_a_grade_imports_no_torch() -> None:
    code = "import sys, autograder.report.console, autograder.report.gradescope_json; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
