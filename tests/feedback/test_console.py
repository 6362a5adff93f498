"""One grade in the terminal."""

import io
import subprocess
import sys

from rich.console import Console, RenderableType

from autograder.feedback.console import staff_view, student_view
from autograder.results import Explanation, Key, PartPoints, Versions
from tests.feedback.grades import check, grade, passed, ungraded


def printed(view: RenderableType, width: int = 120) -> str:
    file = io.StringIO()
    Console(file=file, width=width).print(view)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def test_a_failing_check_is_five_lines_under_its_number_and_points() -> None:
    text = printed(student_view(grade(check("2.5"))))
    block = text.split("\n\n")[1].split("\n")
    assert block[0] == "2.5   failed    0/2"
    assert [line.split()[0] for line in block[1:] if line] == ["property", "case", "expected", "cause", "read"]


def test_a_passed_check_is_one_line_with_its_title() -> None:
    assert "2.1   passed    2/2  Rows sum to 1" in printed(student_view(grade(passed("2.1"))))


def test_points_stand_first() -> None:
    assert printed(student_view(grade(passed(), check("2.2")))).startswith("student_03: 2 of 22 points\n")


def test_parts_are_listed_where_there_are_several() -> None:
    parts = (
        PartPoints(part="tokens", number=1, points=3, maximum=18),
        PartPoints(part="attention", number=2, points=2, maximum=22),
    )
    text = printed(student_view(grade(passed(), parts=parts)))
    assert "tokens     3 of 18" in text and "attention  2 of 22" in text


def test_a_bonus_check_is_called_so_instead_of_points() -> None:
    assert "2.9   failed    bonus" in printed(student_view(grade(check("2.9", weight=0.0))))


def test_outcomes_are_words() -> None:
    text = printed(student_view(grade(check("2.1", outcome="timed_out"), check("2.2", outcome="not_run"))))
    assert "2.1   timed out 0/2" in text and "2.2   not run   0/2" in text


def test_a_hidden_check_shows_a_student_no_case_no_numbers_and_no_prints() -> None:
    text = printed(student_view(grade(check(hidden=True, output="PRINTED"))))
    assert "hidden" in text and "The scale is missing." in text
    assert "3.3166" not in text and "scaled_dot_product" not in text and "PRINTED" not in text


def test_a_hidden_check_shows_staff_everything() -> None:
    text = printed(staff_view(grade(check(hidden=True, output="PRINTED", staff="Mismatch in row 3"))))
    assert "3.3166" in text and "PRINTED" in text and "Mismatch in row 3" in text


def test_what_is_for_staff_is_not_in_the_students_view() -> None:
    graded = grade(check(staff="STAFF-1"), staff=("STAFF-2",), sandbox={"STAFF-3": "on"})
    assert "STAFF" not in printed(student_view(graded))
    assert all(f"STAFF-{n}" in printed(staff_view(graded)) for n in (1, 2, 3))


def test_staff_sees_versions_and_times() -> None:
    key = Key(submission="a", assignment="b", grader="c", versions=Versions(softmark="0.1", torch="2.6", python="3.10"))
    text = printed(staff_view(grade(check(cpu_seconds=1.25, wall_seconds=2.5), key=key)))
    assert "torch 2.6" in text and "1.25 s of CPU, 2.5 s in all" in text


def test_what_nobody_could_grade_gives_its_reason_and_no_points() -> None:
    text = printed(student_view(ungraded("work.zip is no zip archive. Hand in a zip.")))
    assert "could not be graded" in text and "work.zip is no zip archive." in text
    assert "0 of" not in text


def test_an_incomplete_grade_says_so() -> None:
    assert "not complete" in printed(student_view(grade(passed(), status="incomplete")))


def test_notes_are_shown() -> None:
    assert "note: attn.py was taken for attention.py" in printed(
        student_view(grade(notes=("attn.py was taken for attention.py",)))
    )


def test_nothing_that_a_student_wrote_is_markup_or_a_control_sequence() -> None:
    bad = "[bold]\x1b[2J\u202e:smile:[/bold]"
    graded = grade(check(output=bad, explanation=Explanation(property="p", got=bad)), submission=bad, notes=(bad,))
    text = printed(student_view(graded))
    assert "\x1b" not in text and "\u202e" not in text
    assert text.count(r"[bold]\x1b[2J\u202e:smile:[/bold]") == 4


def test_a_long_line_continues_below_itself() -> None:
    text = printed(student_view(grade(check(explanation=Explanation(property="word " * 30)))), width=60)
    lines = [line for line in text.split("\n") if "word" in line]
    assert len(lines) > 2 and all(line.index("word") == lines[0].index("word") for line in lines)


def test_prints_are_cut_to_a_few_lines() -> None:
    text = printed(student_view(grade(check(output="line\n" * 10_000))))
    assert "lines left out" in text and text.count("\n") < 30


def test_showing_a_grade_imports_no_torch() -> None:
    code = "import sys, autograder.feedback.console, autograder.gradescope.results; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
