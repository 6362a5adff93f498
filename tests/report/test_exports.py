"""Grades go into the cells where they belong, and every other byte of a downloaded file is as it was."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.errors import SoftmarkError
from autograder.intake.sheet import cell, sheet_of, uncell
from autograder.report.exports import Filled, fill
from autograder.report.gradebook import Row, people_csv, row_of
from autograder.results import Submitter
from tests.report.grades import grade, ungraded

CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Transformers (77),Quiz (78),Current Score\r\n"
    "    Points Possible,,,,,22,5,(read only)\r\n"
    '"Doe, Jane",4021,0222,jdoe,"A ""x""\nB",,3.0,=1+1\r\n'
    "Berg,4022,0333,mberg,A,EX,,\r\n"
    "Late,4023,0444,late,A,7.00,,\r\n"
    "None,4024,0555,none,A,,,"
)
MOODLE = (
    "Identifier;Full name;Email address;Status;Grade;Maximum grade;Grade can be changed;Last modified (grade)\n"
    "Participant 501;Jane Doe;jdoe@x.edu;;;22,00;Yes;-\n"
    "Participant 502;Max Berg;mberg@x.edu;;;22,00;No;-\n"
)
GRADESCOPE = "Name,SID,Email,Total Score,Max Points,Status\nJane Doe,0222,jdoe@x.edu,,22.0,Ungraded\n"


def row(who: Submitter, points: float | None = 17.5, name: str = "s") -> Row:
    one = ungraded(submission=name) if points is None else grade(points=points, submission=name)
    return row_of(msgspec.structs.replace(one, submitters=(who,)))


def filled(tmp_path: Path, template: str, platform: str, *rows: Row, **how: object) -> Filled:
    path = tmp_path / "template.csv"
    path.write_bytes(template.encode())
    return fill(path, rows, platform, ["transformers"], **how)


def test_canvas_keeps_every_other_byte(tmp_path: Path) -> None:
    rows = [
        row(Submitter(id="canvas:4021"), name="a"),
        row(Submitter(id="canvas:4022"), name="b"),
        row(Submitter(sid="0444"), 0.0, name="c"),
        row(Submitter(id="canvas:4024"), None, name="d"),
        row(Submitter(id="canvas:4999"), name="e"),
    ]
    done = filled(tmp_path, CANVAS, "canvas", *rows)
    expected = CANVAS.replace('B",,3.0', 'B",17.5,3.0').replace("A,7.00,", "A,0,")
    assert done.content.decode() == expected
    assert (done.entered, done.column) == (2, "Transformers (77)")
    assert done.left_over == [
        "e is nobody's in template.csv",
        "Berg is excused (EX)",
        "d has no grade (ungraded)",
    ]


def test_moodle_is_filled_with_its_own_comma_and_what_is_locked_stays(tmp_path: Path) -> None:
    rows = [row(Submitter(id="moodle:501"), name="a"), row(Submitter(id="moodle:502"), name="b")]
    done = filled(tmp_path, MOODLE, "moodle", *rows)
    assert done.content.decode() == MOODLE.replace("jdoe@x.edu;;;", "jdoe@x.edu;;17,5;")
    assert done.left_over == ["the grade of Max Berg is locked"]


def test_gradescope_is_filled(tmp_path: Path) -> None:
    done = filled(tmp_path, GRADESCOPE, "gradescope", row(Submitter(email="jdoe@x.edu")))
    assert done.content.decode() == GRADESCOPE.replace("x.edu,,22", "x.edu,17.5,22")


def test_another_maximum_is_refused_or_converted(tmp_path: Path) -> None:
    template = CANVAS.replace(",22,5", ",11,5")
    jane = row(Submitter(id="canvas:4021"))
    with pytest.raises(SoftmarkError, match="out of 11 points, and these grades are out of 22"):
        filled(tmp_path, template, "canvas", jane)
    assert b'B",8.75,3.0' in filled(tmp_path, template, "canvas", jane, scale=True).content


def test_a_column_that_nobody_can_tell_is_asked_for(tmp_path: Path) -> None:
    template = CANVAS.replace("Transformers (77)", "Homework 8 (77)")
    with pytest.raises(SoftmarkError, match=r"several columns .*\(Homework 8 \(77\), Quiz \(78\)\): name one"):
        filled(tmp_path, template, "canvas")
    assert filled(tmp_path, template, "canvas", column="Homework 8").column == "Homework 8 (77)"
    with pytest.raises(SoftmarkError, match="has no column of grades"):
        filled(tmp_path, "Name,SID\nA,1\n", "moodle")


def test_who_handed_in_twice_is_told_and_left(tmp_path: Path) -> None:
    twice = [row(Submitter(sid="0222"), name="a"), row(Submitter(sid="0222"), name="b")]
    done = filled(tmp_path, GRADESCOPE, "gradescope", *twice)
    assert (done.content.decode(), done.left_over) == (GRADESCOPE, ["Jane Doe has 2 hand-ins: a, b"])


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0"), max_size=12)
tables = st.lists(st.lists(texts, min_size=2, max_size=5), min_size=1, max_size=6)


@given(tables, st.sampled_from([",", ";", "\t"]), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.data())
def test_any_table_reads_back_the_same_but_for_what_was_filled(rows, delimiter, end, quotes, data) -> None:
    buffer = io.StringIO(newline="")
    how = {"delimiter": delimiter, "lineterminator": end, "quoting": csv.QUOTE_ALL if quotes else csv.QUOTE_MINIMAL}
    rows = [["Name", "SID", "x", "y", "z", "u"], *rows]
    csv.writer(buffer, **how).writerows(rows)
    sheet = sheet_of(buffer.getvalue().encode())
    assert sheet.rows == rows
    assert sheet.filled({}) == buffer.getvalue().encode()
    place = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.integers(0, 1))
    after = sheet_of(sheet.filled({place: "17.5"})).rows
    rows[place[0]][place[1]] = "17.5"
    assert after == rows


@given(st.binary(min_size=1, max_size=80))
def test_any_bytes_are_written_back_as_they_were(data: bytes) -> None:
    assert sheet_of(b"a,b\n" + data).filled({}) == b"a,b\n" + data


@given(texts)
def test_a_defused_cell_is_no_formula_and_gives_its_text_back(text: str) -> None:
    assert uncell(cell(text)) == text
    assert not cell(text).startswith(("=", "+", "-", "@", "\t"))


@given(st.lists(st.tuples(texts, texts), max_size=5, unique_by=lambda each: each[1].casefold()))
def test_one_row_a_person_keeps_zeros_and_names(people: list[tuple[str, str]]) -> None:
    from autograder.intake.roster import Person
    from autograder.text import visible

    class_list = tuple(Person(name=name, sid=sid) for name, sid in people)
    table = list(csv.DictReader(io.StringIO(people_csv([], class_list), newline="")))
    assert [(uncell(r["name"]), uncell(r["sid"])) for r in table] == [
        (uncell(cell(visible(name))), uncell(cell(visible(sid)))) for name, sid in people
    ]
    assert all(r["remark"] == "handed in nothing" and r["total"] == "" for r in table)
