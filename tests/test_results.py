"""A grade is read back as it was written, and a hand that changed it in between is noticed."""

from __future__ import annotations

import msgspec
import pytest

from autograder.results import EDITED, Grade, from_json, to_json
from tests.report.grades import grade, passed

ONE = grade(passed(title='a "checksum": ""'), staff=("ambiguous: x",))


def test_a_grade_is_read_back_as_it_was_written() -> None:
    assert from_json(to_json(ONE)) == ONE


@pytest.mark.parametrize(
    ("old", "new"),
    [(b'"points": 2.0', b'"points": 22.0'), (b"\n}", b"\n }"), (b'"checksum": "', b'"checksum": "0'), (b"ambig", b"")],
)
def test_a_hand_that_changed_it_is_noticed(old: bytes, new: bytes) -> None:
    data = to_json(ONE)
    assert old in data
    assert from_json(data.replace(old, new)).staff[0] == EDITED


def test_a_record_without_a_checksum_is_told_as_changed_and_once() -> None:
    bare = msgspec.json.encode(msgspec.structs.replace(ONE, staff=(EDITED, "x", EDITED)))
    assert from_json(bare).staff == (EDITED, "x")


def test_what_was_edited_stays_told_when_it_is_written_again() -> None:
    edited: Grade = from_json(to_json(ONE).replace(b'"points": 2.0', b'"points": 22.0'))
    assert from_json(to_json(edited)).staff == edited.staff
