"""Class lists of every platform name the same people; a hand-in is somebody's where nobody else could be meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.errors import SoftmarkError
from autograder.intake.roster import Person, match, people_of, read_roster
from autograder.intake.sheet import sheet_of
from autograder.results import Submitter

CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,Transformers (77),Current Score
,,,,,Manual Posting,(read only)
    Points Possible,,,,,100.00,(read only)
"Doe, Jane",4021,0222,jdoe,A,,
"van den Berg, Max",4022,0333,mberg,A,,
"Student, Test",9,,x,A,,
"""
GRADESCOPE = "First Name,Last Name,SID,Email,Sections\nJane,Doe,0222,jdoe@x.edu,\nMax,van den Berg,0333,mberg@x.edu,\n"
MOODLE = "Teilnehmer/in,Vollständiger Name,E-Mail-Adresse,Status\nTeilnehmer/in 501,Jane Doe,jdoe@x.edu,\n"
GITHUB = "roster_identifier,github_username\n0222,octo-cat\n"


def people(text: str) -> tuple[Person, ...]:
    return people_of(sheet_of(text.encode()), Path("roster.csv"))


def test_each_platforms_list_is_read() -> None:
    assert people(CANVAS) == (
        Person(row=3, name="Doe, Jane", sid="0222", login="jdoe", id="canvas:4021"),
        Person(row=4, name="van den Berg, Max", sid="0333", login="mberg", id="canvas:4022"),
    )
    assert people(GRADESCOPE)[0] == Person(row=1, name="Jane Doe", sid="0222", email="jdoe@x.edu")
    assert people(MOODLE) == (Person(row=1, name="Jane Doe", email="jdoe@x.edu", id="moodle:501"),)
    for text in (GITHUB, GITHUB.replace("roster_identifier", "identifier")):
        assert people(text) == (Person(row=1, sid="0222", id="github:octo-cat"),)
    assert people("name\nStudent 14\n") == (Person(row=1, name="Student 14"),)


@pytest.mark.parametrize(
    ("submission", "submitter"),
    [
        ("x", Submitter(id="canvas:4021")),
        ("x", Submitter(id="canvas:1", name="doejane")),
        ("x", Submitter(sid="0222")),
        ("x", Submitter(sid="222", name="somebody")),
        ("x", Submitter(email="JDoe@x.edu")),
        ("x", Submitter(name="Jane Doe")),
        ("jdoe", None),
        ("Doe, Jane", None),
        ("0222", None),
        ("Jane_Doe", None),
    ],
)
def test_a_hand_in_finds_its_person(submission: str, submitter: Submitter | None) -> None:
    found = match(people(CANVAS), [(submission, (submitter,) if submitter else ())])
    assert (found.of, found.unmatched) == ({0: (submission,)}, ())


@pytest.mark.parametrize(
    "submission", [("jdoe_mberg", ()), ("x", (Submitter(id="moodle:4021"),)), ("x", (Submitter(name="Jane"),))]
)
def test_nobody_is_guessed(submission: tuple[str, tuple[Submitter, ...]]) -> None:
    assert match(people(CANVAS), [submission]).unmatched == (submission[0],)


def test_two_of_one_name_are_nobody() -> None:
    twins = (*people(CANVAS), Person(name="Jane Doe", sid="0444"))
    assert match(twins, [("x", (Submitter(name="Jane Doe"),))]).unmatched == ("x",)


def test_each_member_of_a_group_has_the_hand_in_and_a_stranger_in_it_is_told() -> None:
    group = (Submitter(sid="0222"), Submitter(sid="0333"), Submitter(sid="0999"))
    found = match(people(CANVAS), [("g", group), ("h", (Submitter(sid="0333"),))])
    assert (found.of, found.unmatched) == ({0: ("g",), 1: ("g", "h")}, ("g",))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a,b\n1,2\n", "no column that says who"),
        (b"name,sid\n", "names nobody"),
        (b"PK\x03\x04", "save it as CSV"),
        (b" \n", "is not a table"),
    ],
)
def test_what_is_no_class_list_is_a_sentence(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "roster.csv").write_bytes(content)
    with pytest.raises(SoftmarkError, match=words):
        read_roster(tmp_path / "roster.csv")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("says", ["", "sep=;\r\n", '"sep=;"\r\n'])
def test_what_excel_writes_is_read_in_each_of_its_encodings(encoding: str, says: str, tmp_path: Path) -> None:
    mark = "\ufeff" if encoding.startswith("utf-16") else ""
    text = f"{mark}{says}Last, First;Matrikel;E-Mail\r\n" + '"Žák’s, Šime";0042;sime@x.edu\r\n'
    path = tmp_path / "roster.csv"
    path.write_bytes(text.encode(encoding))
    assert read_roster(path) == (Person(row=1, name="Žák’s, Šime", sid="0042", email="sime@x.edu"),)
    assert sheet_of(path.read_bytes()).filled({(1, 1): "0043"}) == path.read_bytes().replace(
        "0042".encode(encoding.removesuffix("-sig")), "0043".encode(encoding.removesuffix("-sig"))
    )
