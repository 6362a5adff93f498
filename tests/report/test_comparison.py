"""Two runs compared: every submission of either is told once, with what changes and why."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

from autograder.commands.diff import diff_command
from autograder.errors import SoftmarkError
from autograder.grading import record
from autograder.report.comparison import Comparison, compare
from autograder.report.differences import last_line, print_differences, signed
from autograder.results import Grade, Key, Lateness, Versions
from tests.report.grades import check, grade, passed, ungraded

KEY = Key(
    submission="s", assignment="a", grader="g", versions=Versions(softmark="0.1.0", torch="2.13.0", python="3.11.2")
)

OTHER = "other files were handed in"
LATER = "late work: 20 % taken off, was 0 %"


def runs(tmp_path: Path, old: dict[str, Grade | str], new: dict[str, Grade | str]) -> tuple[Path, Path]:
    """Two folders of records; a text stands for a grade.json that is none."""
    for run, grades in ((tmp_path / "old", old), (tmp_path / "new", new)):
        for name, one in grades.items():
            if isinstance(one, Grade):
                record.write(run, msgspec.structs.replace(one, submission=name))
            else:
                (run / name).mkdir(parents=True)
                (run / name / "grade.json").write_text(one)
    return tmp_path / "old", tmp_path / "new"


def compared(tmp_path: Path, old: dict[str, Grade | str], new: dict[str, Grade | str]) -> Comparison:
    return compare(*runs(tmp_path, old, new))


def printed(comparison: Comparison) -> str:
    file = io.StringIO()
    print_differences(comparison, Console(file=file))
    return file.getvalue()


def test_a_check_that_now_passes_is_told_with_what_it_had_found(tmp_path: Path) -> None:
    found = compared(tmp_path, {"a": grade(check("2.1"), passed("2.2"))}, {"a": grade(passed("2.1"), passed("2.2"))})
    (change,) = found.changes
    assert (change.kind, change.old, change.new, change.points) == ("changed", 2, 4, 2)
    (one,) = change.checks
    assert (one.number, one.points) == ("2.1", 2)
    assert one.before is not None
    assert one.after is not None
    assert (one.before.outcome, one.before.finding) == ("failed", "The scale is missing.")
    assert (one.after.outcome, one.after.finding) == ("passed", "")
    text = printed(found)
    assert "2.1  failed -> passed  +2" in text
    assert "before: The scale is missing." in text
    assert text.splitlines()[-1] == "1 of 1 grades change · 1 up (most +2) · 0 down · 0 the same"


def test_the_largest_changes_come_first_and_each_check_is_added_up(tmp_path: Path) -> None:
    old = {"a": grade(passed("2.1"), passed("2.2")), "b": grade(passed("2.1"), check("2.2")), "c": grade(passed("2.1"))}
    new = {
        "a": grade(check("2.1", outcome="partial", score=1.5), passed("2.2")),
        "b": grade(check("2.1"), passed("2.2", score=0.5)),
        "c": grade(passed("2.1")),
    }
    found = compared(tmp_path, old, new)
    text = printed(found)
    assert text.index("\nb ") < text.index("\na ")
    assert [(each.number, each.rise, each.fall, each.points) for each in found.checks] == [
        ("2.1", 0, 2, -2.5),
        ("2.2", 1, 0, 0.5),
    ]
    assert last_line(found) == "2 of 3 grades change · 0 up · 2 down (most -1.5) · 1 the same"


@pytest.mark.parametrize(
    ("old", "new", "kind", "points", "why"),
    [
        (grade(passed()), grade(passed()), "same", 0, ""),
        (grade(check()), grade(check(explanation=None, staff="other")), "same points", 0, ""),
        (ungraded(), ungraded(), "same", None, ""),
        (ungraded(), ungraded("it is empty."), "same points", None, "ungraded: it is empty."),
        (ungraded(), grade(passed()), "changed", None, "was ungraded, is graded"),
        (
            grade(passed(), key=KEY),
            grade(passed(), key=msgspec.structs.replace(KEY, submission="t")),
            "same points",
            0,
            OTHER,
        ),
        (grade(passed()), grade(passed(), maximum=20.0), "changed", 0, "out of 20, was out of 22"),
        (grade(passed()), grade(passed(), points=1.6, late=Lateness(percent=20)), "changed", -0.4, LATER),
        (grade(passed()), grade(passed(), points=1.0), "changed", -1, ""),
    ],
)
def test_each_reason_is_told(old: Grade, new: Grade, kind: str, points: float | None, why: str, tmp_path: Path) -> None:
    (change,) = compared(tmp_path, {"a": old}, {"a": new}).changes
    assert (change.kind, change.points, "; ".join(change.why)) == (kind, points, why)


def test_a_check_that_only_finds_other_words_is_counted_and_not_among_the_reasons(tmp_path: Path) -> None:
    found = compared(
        tmp_path, {"a": grade(check("2.1"), check("2.2"))}, {"a": grade(check("2.1", explanation=None), passed("2.2"))}
    )
    text = printed(found)
    assert "2.2  failed -> passed" in text
    assert "2.1  failed" not in text
    assert [(each.number, each.other) for each in found.checks] == [("2.1", 1), ("2.2", 0)]


def test_points_that_no_check_explains_are_said_to_be_set_otherwise(tmp_path: Path) -> None:
    found = compared(tmp_path, {"a": grade(passed())}, {"a": grade(passed(), points=1.0)})
    assert "its points were set otherwise" in printed(found)


def test_a_check_that_is_new_gone_or_weighs_otherwise_is_told(tmp_path: Path) -> None:
    old = grade(passed("2.1"), passed("2.2"))
    new = grade(passed("2.1", weight=3.0, score=3.0), check("2.3"))
    found = compared(tmp_path, {"a": old}, {"a": new})
    assert [(each.number, each.points) for each in found.changes[0].checks] == [("2.1", 1), ("2.2", -2), ("2.3", 0)]
    text = printed(found)
    assert "2.1  passed -> passed  +1  weight 2 -> 3" in text
    assert "2.2  passed -> not there  -2" in text
    assert "2.3  not there -> failed  0" in text


def test_a_run_of_one_check_is_compared_in_that_check_and_the_grade_is_not_whole(tmp_path: Path) -> None:
    old = grade(passed("2.1"), check("2.2"))
    new = grade(passed("2.2"), status="incomplete", reason="only 2.2 ran, as asked")
    found = compared(tmp_path, {"a": old}, {"a": new})
    (change,) = found.changes
    assert (change.points, change.whole, [each.number for each in change.checks]) == (2, False, ["2.2"])
    assert found.open == [change]
    assert "was graded, is incomplete (only 2.2 ran, as asked)" in printed(found)


def test_a_check_that_broke_changes_no_points_by_it(tmp_path: Path) -> None:
    new = grade(check("2.1", outcome="broken"), status="incomplete", points=0.0)
    (change,) = compared(tmp_path, {"a": grade(passed("2.1"))}, {"a": new}).changes
    assert (change.points, change.checks[0].points, change.whole) == (0, None, False)
    assert signed(change.checks[0].points) == "?"


def test_a_grade_that_is_whole_again_is_no_fault(tmp_path: Path) -> None:
    old = grade(check("2.1", outcome="broken"), status="incomplete", points=0.0)
    found = compared(tmp_path, {"a": old}, {"a": grade(passed("2.1"))})
    assert found.open == []
    assert found.changes[0].why == ("was incomplete, is graded",)


def test_what_is_in_one_run_or_cannot_be_read_is_named_and_counted_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = grade(passed())
    old, new = runs(tmp_path, {"gone": one, "a": one, "torn": one}, {"added": one, "a": one, "torn": "{"})
    assert diff_command(old, new, False) == 1
    text = capsys.readouterr().out
    assert f"only in {new}: added" in text.replace("\n", "")
    assert f"only in {old}, so that their grade would be gone: gone" in text.replace("\n", "")
    assert "torn: the new grade.json cannot be read" in text
    last = "0 of 4 grades change · 0 up · 0 down · 1 the same · 1 added · 1 missing · 1 unreadable"
    assert text.splitlines()[-1] == last


@pytest.mark.parametrize(
    ("new", "code"), [({"a": grade(check())}, 0), ({"a": grade(passed()), "b": grade()}, 0), ({}, 2)]
)
def test_exit_codes(new: dict[str, Grade | str], code: int, tmp_path: Path) -> None:
    old, other = runs(tmp_path, {"a": grade(passed())}, new)
    if code == 2:
        with pytest.raises(
            SoftmarkError, match=r"new is not a folder: give a folder that `softmark grade -o` wrote"
        ) as e:
            diff_command(old, other, True)
        assert e.value.exit_code == 2
    else:
        assert diff_command(old, other, True) == code


def test_runs_of_two_assignments_are_refused(tmp_path: Path) -> None:
    old, new = runs(tmp_path, {"a": grade(passed())}, {"a": grade(passed(), assignment="00_warmup")})
    with pytest.raises(SoftmarkError, match="hold grades of 00_warmup and 08_transformers: compare runs of one"):
        compare(old, new)


def test_the_machines_version_is_the_whole_comparison(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    newer = msgspec.structs.replace(KEY, assignment="b", versions=msgspec.structs.replace(KEY.versions, torch="2.14.0"))
    old, new = runs(tmp_path, {"a": grade(check(), key=KEY)}, {"a": grade(passed(), key=newer)})
    assert diff_command(old, new, True) == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert msgspec.convert(data, Comparison) == compare(old, new)
    assert data["between"] == ["the assignment (manifest, checks, handout or solutions)", "torch 2.13.0 -> 2.14.0"]


def test_what_a_student_wrote_cannot_forge_a_line(tmp_path: Path) -> None:
    explanation = msgspec.structs.replace(check().explanation, cause="1\n9 of 9 grades change\x1b[2J")
    old, new = grade(passed()), grade(check(explanation=explanation))
    text = printed(compared(tmp_path, {"a": old}, {"a": new}))
    assert "\x1b" not in text
    assert not any(line.startswith("9 of 9") for line in text.splitlines())
