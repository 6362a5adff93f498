"""Who is in the class: a CSV file of Canvas, Gradescope, Moodle, GitHub Classroom or a course. Whose is which hand-in.

A hand-in is a person's by the platform's own id, the e-mail address, the student number, the login or the name, in
this order, and only where exactly one person has it. Nothing is guessed from separators in names.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from autograder.errors import SoftmarkError
from autograder.intake.sheet import Sheet, read_sheet, uncell
from autograder.results import Submitter

MATRICULATION = ("matrikel", "matrikelnummer", "matrikelnr", "matrikelnr.", "matrikel-nr.", "matriculation number")
COLUMNS = {
    "first": ("first name", "firstname", "given name", "vorname"),
    "last": ("last name", "lastname", "surname", "family name", "nachname"),
    "name": (
        "student",
        "name",
        "names",
        "full name",
        "student name",
        "vollständiger name",
        "last, first",
        "name, vorname",
    ),
    "sid": (
        "sid",
        "sis user id",
        "student id",
        "id number",
        "id-nummer",
        "roster_identifier",
        "student number",
        *MATRICULATION,
    ),
    "email": ("email", "email address", "e-mail", "e-mail-adresse", "mail"),
    "login": ("sis login id", "login", "login id", "username", "user name", "netid", "anmeldename"),
}
"""What columns are called, in small letters."""
NOBODY = ("points possible", "student, test", "test student")


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """One person of the class; `row` is where they stand in the file. Fields that the file lacks are empty."""

    row: int = 0
    name: str = ""
    sid: str = ""
    email: str = ""
    login: str = ""
    id: str = ""


def read_roster(path: Path) -> tuple[Person, ...]:
    """The people of a class list. Raises `SoftmarkError` for a file in which nobody is named."""
    return people_of(read_sheet(path), path)


def people_of(sheet: Sheet, path: Path) -> tuple[Person, ...]:
    """The people in a table, row by row. Raises `SoftmarkError` where no column says who they are."""
    rows = sheet.rows
    head = [_small(title) for title in rows[0]]
    places = {what: next((head.index(n) for n in names if n in head), None) for what, names in COLUMNS.items()}
    identifier, platform = _identifier(head, rows)
    if platform == "github" and places["sid"] is None and "identifier" in head:
        places["sid"] = head.index("identifier")
    if all(place is None for place in (*places.values(), identifier)):
        shown = ", ".join(rows[0][:8])
        raise SoftmarkError(f"{path} has no column that says who a row is of (name, SID, email): it has {shown}.")
    found: list[Person] = []
    for number, row in enumerate(rows[1:], start=1):

        def at(place: int | None, row: Sequence[str] = row) -> str:
            return uncell(row[place].strip()) if place is not None and place < len(row) else ""

        one = {what: at(place) for what, place in places.items()}
        first, last = one.pop("first"), one.pop("last")
        one["name"] = one["name"] or f"{first} {last}".strip()
        who = re.sub(r"^\D*(?=\d+$)", "", at(identifier)) if platform == "moodle" else at(identifier)
        if platform == "" and who and not one["sid"]:
            one["sid"] = who
        if any((*one.values(), who)) and _small(one["name"]) not in NOBODY:
            found.append(Person(row=number, id=f"{platform}:{who}" if platform and who else "", **one))
    if not found:
        raise SoftmarkError(f"{path} names nobody: give the class list that you downloaded.")
    return tuple(found)


def _identifier(head: list[str], rows: list[list[str]]) -> tuple[int | None, str]:
    """The column of a platform's own id, and whose it is."""
    if "github_username" in head:
        return head.index("github_username"), "github"
    if "id" in head:
        return head.index("id"), "canvas" if "student" in head else ""
    column = head.index("identifier") if "identifier" in head else 0
    if any(head[column] in names for names in COLUMNS.values()):  # people may be called "Student 14"
        return None, ""
    cells = [row[column] for row in rows[1:] if len(row) > column and row[column]]
    if cells and all(re.fullmatch(r"[^\W\d][^\d,]* \d+", cell) for cell in cells):  # "Participant 501", in any language
        return column, "moodle"
    return (column, "") if "identifier" in head else (None, "")


class Match(msgspec.Struct, frozen=True):
    """Who handed in what: names of submissions by a person's place in the roster, and those that are nobody's."""

    of: dict[int, tuple[str, ...]]
    unmatched: tuple[str, ...]


def match(people: Sequence[Person], submissions: Iterable[tuple[str, Sequence[Submitter]]]) -> Match:
    """Find the people of each submission, given its name and whom its platform names.

    Of a group each member is looked for. A submission of which one member is not found is told as unmatched, too.
    """
    index = defaultdict[tuple[str, str], set[int]](set)
    for place, person in enumerate(people):
        for key in _keys(person):
            index[key].add(place)
    of = defaultdict[int, list[str]](list)
    unmatched: list[str] = []
    for name, submitters in submissions:
        found = [_found(index, _looked_for(each)) for each in submitters] or [_found(index, _by_name(name))]
        for place in dict.fromkeys(place for place in found if place is not None):
            of[place].append(name)
        if None in found:
            unmatched.append(name)
    return Match({place: tuple(names) for place, names in sorted(of.items())}, tuple(unmatched))


def _found(index: dict[tuple[str, str], set[int]], keys: Iterator[tuple[str, str]]) -> int | None:
    """The only person with the first key that anybody has."""
    for key in keys:
        if places := index.get(key):
            return next(iter(places)) if len(places) == 1 else None
    return None


def _keys(person: Person) -> set[tuple[str, str]]:
    keys = {
        ("id", person.id),
        ("email", _small(person.email)),
        ("sid", _small(person.sid)),
        ("number", _small(person.sid).lstrip("0")),
        ("login", _small(person.login)),
        ("email", _small(person.login) if "@" in person.login else ""),
        ("local", _small(person.email).partition("@")[0]),
        ("name", _name(person.name)),
        ("sorted", _sorted(person.name)),
    }
    return {key for key in keys if key[1]}


def _looked_for(one: Submitter) -> Iterator[tuple[str, str]]:
    sid, email = _small(one.sid), _small(one.email)
    local = email.partition("@")[0]
    keys = [
        ("id", one.id),
        ("email", email),
        ("sid", sid),
        ("login", sid),
        ("login", email),
        ("number", sid.lstrip("0")),
    ]
    keys += [("login", local), ("local", sid), ("name", _name(one.name)), ("sorted", _small(one.name))]
    return iter([key for key in keys if key[1]])


def _by_name(name: str) -> Iterator[tuple[str, str]]:
    text = _small(name)
    return iter([("sid", text), ("login", text), ("email", text), ("local", text), ("name", _name(name))])


def _small(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip().casefold()


def _name(text: str) -> str:
    """A name as its words, so that "Doe, Jane" is "Jane Doe"."""
    last, comma, first = _small(text).replace("_", " ").partition(",")
    return " ".join(f"{first} {last}".split() if comma else last.split())


def _sorted(text: str) -> str:
    """A name as Canvas writes it in a file's name: the last name first, letters alone."""
    first, _, last = _name(text).rpartition(" ")
    return re.sub(r"\W", "", last + first)
