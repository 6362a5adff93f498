"""The metadata of a Gradescope export, with the traps that real ones have, says who handed in what."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.errors import SoftmarkError
from autograder.intake.export import Entry, Submitter, lists_what_is_there, read_metadata

REAL = """\
---
submission_409194023:
  :submitters:
  - :name: Student One
    :sid: '0123456789'
    :email: student_01@example.edu
  :id: 409194023
  :created_at: 2026-04-26 17:34:00.861687000 Z
  :score: 2.0
  :status: processed
  :results:
    score: 2.0
    tests:
    - name: '1.1'
      output: 'first line

        second line
'
    - &again
      name: "\\e[31mred\\e[0m"
      submission_1:
        :submitters: []
    - *again
  :history:
  - :id: 409194000
    :created_at: 2026-04-25 10:00:00.000000000 Z
    :submitters:
    - :name: Somebody Else
    :results: {score: 0.0, tests: []}
...
submission_409194024:
  :submitters:
  - :name: Student Two
    :sid: 0222
    :email: student_02@example.edu
  - :name: Student Three
    :sid: 0o17
  - :name: 1_000
    :sid:
    :email: ~
  :created_at: 2026-04-26
...
submission_409194025:
  submitters:
  - name: yes
    sid: 1e3
submission_409194026:
  :submitters: []
  :id: 409194026
submission_409194027: not a mapping
"""


def write(folder: Path, text: str | bytes, name: str = "submission_metadata.yml") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_a_real_export_is_read_with_all_its_traps(tmp_path: Path) -> None:
    assert read_metadata(write(tmp_path, REAL)) == [
        Entry(
            folder="submission_409194023",
            submitters=(Submitter(name="Student One", sid="0123456789", email="student_01@example.edu"),),
            created_at="2026-04-26 17:34:00.861687000 Z",
        ),
        Entry(
            folder="submission_409194024",
            submitters=(
                Submitter(name="Student Two", sid="0222", email="student_02@example.edu"),
                Submitter(name="Student Three", sid="0o17"),
                Submitter(name="1_000"),
            ),
            created_at="2026-04-26",
        ),
        Entry(folder="submission_409194025", submitters=(Submitter(name="yes", sid="1e3"),)),
        Entry(folder="submission_409194026"),
        Entry(folder="submission_409194027"),
    ]


def test_the_marks_of_windows_make_no_difference(tmp_path: Path) -> None:
    windows = b"\xef\xbb\xbf" + REAL.replace("\n", "\r\n").encode()
    assert read_metadata(write(tmp_path, windows)) == read_metadata(write(tmp_path, REAL, "plain.yml"))


def test_dots_within_a_text_are_text(tmp_path: Path) -> None:
    text = "submission_1:\n  :submitters:\n  - :name: |-\n      a\n      ...\n    :sid: '1'\n"
    assert read_metadata(write(tmp_path, text))[0].submitters == (Submitter(name="a\n...", sid="1"),)


@pytest.mark.parametrize("between", ["", "...\n", "...\n---\n", "...  \n", "---\n"])
def test_a_submission_listed_twice_is_refused(tmp_path: Path, between: str) -> None:
    with pytest.raises(SoftmarkError, match="lists submission_1 2 times: export the submissions from Gradescope again"):
        read_metadata(write(tmp_path, f"submission_1:\n  :id: 1\n{between}submission_1:\n  :id: 1\n"))


@pytest.mark.parametrize("name", ["../outside", "/etc", "..", "a/b"])
def test_a_name_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SoftmarkError, match="which is no submission's name"):
        read_metadata(write(tmp_path, f"{name}:\n  :submitters:\n  - :name: a\n"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("submission_1:\n  - [unclosed\n", r"submission_metadata\.yml, line \d+, is not YAML"),
        ("submission_1: {a: 'b\n", r"submission_metadata\.yml, line \d+, is not YAML"),
        (b"submission_1:\n  :name: \xff\xfe\n", "is not YAML"),
        ("a: \x01\n", "is not YAML"),
    ],
)
def test_what_is_no_yaml_is_a_sentence_with_the_remedy(tmp_path: Path, text: str | bytes, sentence: str) -> None:
    with pytest.raises(SoftmarkError, match=f"{sentence}.*or remove this file to grade the folders without names"):
        read_metadata(write(tmp_path, text))


def test_an_empty_file_lists_nothing(tmp_path: Path) -> None:
    assert read_metadata(write(tmp_path, "--- {}\n")) == []


def test_a_bomb_of_aliases_is_not_built(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 40)]
    bomb = "submission_1:\n  :submitters:\n  - :name: a\n  :results:\n" + "".join(f"    {line}\n" for line in lines)
    assert read_metadata(write(tmp_path, bomb)) == [Entry(folder="submission_1", submitters=(Submitter(name="a"),))]


def test_a_list_that_names_a_folder_beside_it_is_told_without_parsing_it(tmp_path: Path) -> None:
    path = write(tmp_path, REAL + "\n  - [never closed")
    assert not lists_what_is_there(path)
    (tmp_path / "submission_409194026").touch()
    assert not lists_what_is_there(path)
    (tmp_path / "submission_409194025").mkdir()
    assert lists_what_is_there(path)


ALIASES = """\
submission_1: &first
  :submitters: &people
  - &one
    :name: &name A
    :sid: '01'
  :created_at: &when 2026-04-26
submission_2: *first
submission_3:
  :submitters: *people
  :created_at: *when
...
submission_4:
  :history:
  - :submitters:
    - &late
      :name: B
      :sid: '02'
  :submitters:
  - *one
  - *late
  - :name: *name
submission_5:
  <<: *first
  :created_at: 2026-04-27
submission_6: *nobody
"""


def test_an_alias_keeps_what_it_stands_for(tmp_path: Path) -> None:
    entries = {entry.folder[-1]: entry for entry in read_metadata(write(tmp_path, ALIASES))}
    one, late = Submitter(name="A", sid="01"), Submitter(name="B", sid="02")
    first = ((one,), "2026-04-26")
    assert {key: (entry.submitters, entry.created_at) for key, entry in entries.items()} == {
        "1": first,
        "2": first,
        "3": first,
        "4": ((one, late, Submitter(name="A")), ""),
        "5": ((one,), "2026-04-27"),
        "6": ((), ""),
    }


def test_results_that_are_nested_deeply_cost_nobody_their_name(tmp_path: Path) -> None:
    deep = f"submission_1:\n  :results: {'[' * 900}{']' * 900}\n  :submitters:\n  - :name: A\n"
    assert read_metadata(write(tmp_path, deep)) == [Entry(folder="submission_1", submitters=(Submitter(name="A"),))]
