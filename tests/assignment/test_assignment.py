"""A manifest becomes typed objects, or one sentence that names the file, the value and the remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.assignment.assignment import Assignment, load_assignment
from autograder.errors import SoftmarkError

MANIFEST = """
title = "Transformers"
key = "08-visible"
libraries = ["einops"]
[limits]
cpu_seconds = 5
[[part]]
name = "attention"
number = 2
title = "Attention"
points = 22
functions = ["softmax", "MultiHeadAttention"]
bonus = ["MultiHeadAttention.step", "flash"]
[[part]]
name = "tokens"
number = 1
title = "Tokens"
points = 17.5
functions = ["train_bpe"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "assignments" / "08_transformers"
    (folder / "checks" / "hidden").mkdir(parents=True)
    (folder / "assignment.toml").write_text(MANIFEST)
    return folder


def load_with(folder: Path, old: str, new: str) -> Assignment:
    assert old in MANIFEST
    (folder / "assignment.toml").write_text(MANIFEST.replace(old, new))
    return load_assignment(folder)


def test_a_manifest_becomes_typed_objects_with_parts_by_number(folder: Path) -> None:
    assignment = load_assignment(folder)
    assert assignment.name == "08_transformers"
    assert [(part.number, part.name, part.points) for part in assignment.parts] == [
        (1, "tokens", 17.5),
        (2, "attention", 22.0),
    ]
    assert assignment.maximum == 39.5
    assert assignment.key == b"08-visible"
    assert assignment.libraries == ("einops",)
    assert (assignment.limits.cpu_seconds, assignment.limits.import_seconds) == (5.0, 20.0)


def test_a_part_knows_its_file_and_the_names_it_defines(folder: Path) -> None:
    part = load_assignment(folder).part("attention")
    assert part.file == "attention.py"
    assert part.definitions == ("softmax", "MultiHeadAttention", "flash")


def test_solutions_and_starter_stand_beside_the_assignments(folder: Path, tmp_path: Path) -> None:
    assignment = load_assignment(folder)
    assert assignment.solutions == tmp_path.resolve() / "solutions" / "08_transformers"
    assert assignment.starter == tmp_path.resolve() / "starter_code" / "08_transformers"


def test_check_files_come_by_part_and_the_visible_one_first(folder: Path) -> None:
    for name in ("test_attention.py", "hidden/test_attention.py", "hidden/test_tokens.py"):
        (folder / "checks" / name).touch()
    found = [path.relative_to(folder.resolve() / "checks").as_posix() for path in load_assignment(folder).check_files()]
    assert found == ["hidden/test_tokens.py", "test_attention.py", "hidden/test_attention.py"]


def test_a_check_file_of_no_part_is_named_with_the_nearest_part(folder: Path) -> None:
    (folder / "checks" / "test_atention.py").touch()
    with pytest.raises(SoftmarkError, match=r"test_atention\.py belongs to no part.*did you mean 'test_attention\.py'"):
        load_assignment(folder).check_files()


def test_an_assignment_without_checks_says_so(folder: Path) -> None:
    with pytest.raises(SoftmarkError, match="holds no check file"):
        load_assignment(folder).check_files()


def test_the_hidden_key_is_read_without_white_space(folder: Path) -> None:
    (folder / "checks" / "hidden" / "key").write_bytes(b" secret\r\n")
    assert load_assignment(folder).hidden_key() == b"secret"


@pytest.mark.parametrize("content", [None, b"  \n"])
def test_a_hidden_key_that_is_not_there_is_a_sentence(folder: Path, content: bytes | None) -> None:
    if content is not None:
        (folder / "checks" / "hidden" / "key").write_bytes(content)
    with pytest.raises(SoftmarkError, match=r"Write a line of random text|write a line of random text"):
        load_assignment(folder).hidden_key()


def test_an_unknown_part_is_answered_with_those_there_are(folder: Path) -> None:
    with pytest.raises(SoftmarkError, match="no part 'positions': its parts are tokens, attention"):
        load_assignment(folder).part("positions")


def test_a_missing_reference_is_named(folder: Path) -> None:
    assignment = load_assignment(folder)
    with pytest.raises(SoftmarkError, match=r"solutions/08_transformers/tokens\.py is missing"):
        assignment.reference(assignment.part("tokens"))


def test_a_misspelt_folder_is_answered_with_the_nearest_one(folder: Path) -> None:
    with pytest.raises(
        SoftmarkError, match=r"no assignment folder .*08_transfomers; did you mean '08_transformers'"
    ) as caught:
        load_assignment(folder.parent / "08_transfomers")
    assert caught.value.exit_code == 2
    with pytest.raises(SoftmarkError, match=r"; did you mean 'assignments/08_transformers'\?"):
        load_assignment(folder.parents[1] / "08_transformers")


def test_a_folder_without_a_manifest_is_no_assignment(tmp_path: Path) -> None:
    with pytest.raises(SoftmarkError, match=r"it has no assignment\.toml"):
        load_assignment(tmp_path)


def test_a_manifest_that_is_not_utf8_is_a_sentence(folder: Path) -> None:
    (folder / "assignment.toml").write_bytes(b'title = "\xe9"')
    with pytest.raises(SoftmarkError, match="not UTF-8"):
        load_assignment(folder)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("number = 2", "number = ", r"is not TOML: .*line 9, column \d+\): number ="),
        ("[[part]]", "[part]", r"is not TOML: .* twice \(at line 14, column \d+\): \[part\]\."),
        ("points = 22", "point = 22", r"unknown key: part 1, 'point'; did you mean 'points'"),
        ("libraries", "library", r"unknown key: 'library'; did you mean 'libraries'"),
        ("cpu_seconds", "cpu_secs", r"unknown key: limits\.'cpu_secs'; did you mean 'cpu_seconds'"),
        ("points = 22", 'points = "22"', r"part 1, points is '22'; it must be a number of at least 0"),
        ("points = 22\n", "", r"part 1 lacks 'points'; it must be a number"),
        ("points = 22", "points = -1", r"part 1, points is -1; it must be a number of at least 0"),
        ("points = 22", "points = nan", r"part 1, points is nan"),
        ('name = "tokens"', 'name = "attention"', r"two parts with the name attention"),
        ("number = 1", "number = 2", r"two parts with the number 2"),
        ('name = "tokens"', 'name = "tokens\\n"', r"cannot be called 'tokens\\n'"),
        ('name = "tokens"', 'name = "torch"', r"cannot be called 'torch'"),
        ('name = "tokens"', 'name = "tokenize"', r"cannot be called 'tokenize'"),
        (
            'name = "tokens"',
            'name = "../tokens"',
            r"part 2, name is '\.\./tokens'; it must be a name .* letters, digits and _ \(The part's module",
        ),
        ('["train_bpe"]', "[]", r"part 2, functions is \[\]; it must be a list that is not empty"),
        (
            '["train_bpe"]',
            '["train bpe"]',
            r"part 2, functions 1 is 'train bpe'; it must be a name .* letters, digits and _ \(The name of a function",
        ),
        ('["train_bpe"]', '["a.class"]', r"'a\.class' is not the name of a function"),
        ('["train_bpe"]', '["f", "f"]', r"names 'f' twice"),
        (
            "cpu_seconds = 5",
            "cpu_seconds = 0",
            r"limits\.cpu_seconds is 0; it must be a number of at least 0\.1 and of at most 86,400",
        ),
        ('key = "08-visible"', 'key = ""', r"key is ''; it must be a text that is not empty"),
        ("[limits]", "[[limits]]", r"limits is .*; it must be a table"),
    ],
)
def test_a_fault_in_the_manifest_is_one_sentence_with_its_place(
    folder: Path, old: str, new: str, sentence: str
) -> None:
    with pytest.raises(SoftmarkError, match=sentence) as caught:
        load_with(folder, old, new)
    assert caught.value.exit_code == 2
    assert str(folder.resolve() / "assignment.toml") in str(caught.value)


def test_a_manifest_without_parts_is_a_sentence(folder: Path) -> None:
    (folder / "assignment.toml").write_text('title = "T"\nkey = "k"\npart = []\n')
    with pytest.raises(SoftmarkError, match=r"part is \[\]; it must be a list that is not empty"):
        load_assignment(folder)
