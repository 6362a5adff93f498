"""gradebook.sqlite: everything that records say, to be asked in SQL. It is made anew from them whenever they change."""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path

from autograder.errors import SoftmarkError
from autograder.report.table import stood_out
from autograder.report.view import explained, for_staff
from autograder.results import Grade, Override

VERSION = 1
_TABLES = """
CREATE TABLE submissions (name TEXT PRIMARY KEY, assignment, status, points REAL, maximum REAL, reason, stood_out,
    late_hours REAL, late_percent REAL, absent INTEGER, wall_seconds REAL, hand_in, assignment_digest, grader_digest,
    softmark, torch, python) WITHOUT ROWID;
CREATE TABLE submitters (submission, name, sid, email, id);
CREATE TABLE parts (submission, part, number INTEGER, points REAL, maximum REAL);
CREATE TABLE checks (submission, number, name, part, title, hidden INTEGER, weight REAL, score REAL, outcome,
    cpu_seconds REAL, wall_seconds REAL, cause, staff, PRIMARY KEY (submission, number)) WITHOUT ROWID;
CREATE TABLE attempts (submission, time, file, status, points REAL);
CREATE TABLE overrides (submission, hand_in, "check", points REAL, why, who, "when", person);
CREATE TABLE history ("when", who, what, why);
"""


class Database:
    """A gradebook that is being made. Use it through `new_database`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        connection.executescript(f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA user_version={VERSION};")
        connection.executescript(_TABLES)

    def add(self, grade: Grade, absent: bool | None, attempts: Iterable[Sequence[object]]) -> None:
        """Add one grade, and the time, file, status and points of each attempt at it."""
        key, late, name = grade.key, grade.late, grade.submission
        versions = key.versions if key is not None else None
        self._rows(
            "submissions",
            [
                (name, grade.assignment, grade.status, grade.points, grade.maximum, grade.reason, stood_out(grade))
                + ((late.hours, late.percent) if late is not None else (None, None))
                + (absent, grade.wall_seconds)
                + ((key.submission, key.assignment, key.grader) if key is not None else (None,) * 3)
                + ((versions.softmark, versions.torch, versions.python) if versions is not None else (None,) * 3)
            ],
        )
        self._rows("submitters", [(name, each.name, each.sid, each.email, each.id) for each in grade.submitters])
        self._rows("parts", [(name, each.part, each.number, each.points, each.maximum) for each in grade.parts])
        checks: list[Sequence[object]] = []
        for each in grade.checks:
            told = explained(each)
            facts = (each.weight, each.score, each.outcome, each.cpu_seconds, each.wall_seconds)
            cause = told.cause if told is not None else ""
            checks.append(
                (name, each.number, each.name, each.part, each.title, each.hidden, *facts, cause, for_staff(each))
            )
        self._rows("checks", checks)
        self._rows("attempts", [(name, *each) for each in attempts])

    def add_overrides(self, overrides: Iterable[Override]) -> None:
        """Add what staff decided."""
        rows = [(o.submission, o.hand_in, o.check, o.points, o.why, o.who, o.when, o.person) for o in overrides]
        self._rows("overrides", rows)

    def add_history(self, events: Iterable[Sequence[str]]) -> None:
        """Add who did what, when and why, as those four stand in a line."""
        self._rows("history", events)

    def _rows(self, table: str, rows: Iterable[Sequence[object]]) -> None:
        for row in rows:
            safe = [each.encode("utf-8", "replace").decode() if isinstance(each, str) else each for each in row]
            self._connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(safe))})", safe)


@contextlib.contextmanager
def new_database(path: Path) -> Generator[Database]:
    """A database that takes the place of `path` once the block has ended well: whoever has the old one open keeps it.

    Raises:
        SoftmarkError: it cannot be written.
    """
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        made = Path(folder) / path.name
        try:
            with contextlib.closing(sqlite3.connect(made)) as connection, connection:
                yield Database(connection)
            made.chmod(0o600)
            made.replace(path)
        except (sqlite3.Error, OSError) as error:
            raise SoftmarkError(
                f"{path} could not be written ({error}). The grades are in their records: make room for it."
            ) from error
