"""What the platform says of a submission: the documented file, files of other times, and files that are none."""

from __future__ import annotations

import json

import pytest

from autograder.gradescope.metadata import SubmissionMetadata, read_metadata
from autograder.results import Submitter
from tests.gradescope.platform import metadata_of


def read(tmp_path, content) -> SubmissionMetadata:
    path = tmp_path / "submission_metadata.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_metadata(path)


def test_the_documented_file(tmp_path):
    metadata = read(tmp_path, metadata_of(created_at="2018-07-01T14:22:32.365935-07:00"))
    assert metadata == SubmissionMetadata(
        id="123456",
        created_at="2018-07-01T14:22:32.365935-07:00",
        due="2018-07-31T23:00:00.000000-07:00",
        submitters=(Submitter(name="student_03", email="student_03@example.com"),),
        method="upload",
    )
    assert metadata.name == "submission_123456"


def test_a_group_with_earlier_submissions(tmp_path):
    metadata = read(tmp_path, metadata_of(people=3, previous=2))
    assert [one.email for one in metadata.submitters] == [f"student_0{number}@example.com" for number in (3, 4, 5)]
    assert metadata.group
    assert metadata.previous == 2


def test_of_extensions_in_a_group_the_latest_counts(tmp_path):
    content = metadata_of(people=3)
    content["users"][1]["assignment"] = {"due_date": "2018-08-03T00:00:00Z", "late_due_date": None}
    content["users"][2]["assignment"] = {"due_date": "2018-08-02T23:30:00-07:00"}  # 6.5 h later
    assert read(tmp_path, content).due == "2018-08-02T23:30:00-07:00"


@pytest.mark.parametrize("key", sorted(metadata_of()))
def test_any_key_may_be_missing(tmp_path, key):
    content = metadata_of()
    del content[key]
    assert not read(tmp_path, content).staff


@pytest.mark.parametrize("value", [None, 7, "text", [], {}, [None, 3, []], True, 1e300])
@pytest.mark.parametrize("key", sorted(metadata_of()))
def test_any_value_may_be_something_else(tmp_path, key, value):
    metadata = read(tmp_path, {**metadata_of(), key: value})
    assert isinstance(metadata.created_at, str)
    assert all(isinstance(each.name, str) for each in metadata.submitters)


def test_unknown_keys_are_passed_over(tmp_path):
    content = {**metadata_of(), "new": {"deep": [1]}}
    content["users"][0]["sections"] = ["a"]
    content["assignment"]["outline"] = [{"id": 1}]
    assert read(tmp_path, content) == read(tmp_path, metadata_of())


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "3", "\0", "[" * 100_000, '{"id": NaN}', '{"users": [{"name": "\\ud800"}]}']
)
def test_what_is_no_metadata_is_told_to_staff_or_passed_over(tmp_path, content):
    metadata = read(tmp_path, content)
    assert metadata.staff or content.startswith("{")
    assert all(each.name.encode() for each in metadata.submitters)  # half a character cannot be written anywhere


def test_no_file_is_told_to_staff(tmp_path):
    assert "nothing is known" in read_metadata(tmp_path / "submission_metadata.json").staff[0]


def test_what_is_no_time_is_ignored_and_told_to_staff(tmp_path):
    content = metadata_of(created_at="yesterday")
    content["assignment"]["due_date"] = "2018-13-01"
    metadata = read(tmp_path, content)
    assert (metadata.created_at, metadata.due) == ("", "")
    assert len(metadata.staff) == 2 and "yesterday" in metadata.staff[0]


def test_a_name_of_an_id_is_a_plain_file_name(tmp_path):
    assert read(tmp_path, {"id": "../../etc"}).name == "submission_etc"
    assert read(tmp_path, {}).name == "submission"


def test_in_time_is_by_the_moment_and_where_nobody_knows(tmp_path):
    assert read(tmp_path, metadata_of(created_at="2018-07-31T23:00:00-07:00", due="2018-08-01T06:30:00Z")).in_time
    assert not read(tmp_path, metadata_of(created_at="2018-08-01T00:00:00-07:00", due="2018-08-01T06:30:00Z")).in_time
    assert read(tmp_path, {}).in_time
