"""Files become parts by their names, else by what they define, and a student is told of what they may not expect."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from autograder.errors import Unreadable
from tests.intake.handins import ATTEND, ATTENTION, SOFTMAX, STUB, TOKENS, hand_in, loaded, notebook, read, zipped

RIGHT = SOFTMAX + ATTEND
TOLD = "was taken for attention.py, since it defines softmax, attend. Hand it in as attention.py."


def test_a_file_of_the_right_name_is_taken_as_it_stands_and_without_a_word(tmp_path: Path) -> None:
    tree = read(hand_in(tmp_path, {"attention.py": "not python at all(", "README.md": "x"}))
    assert (tree.files, tree.notes, tree.staff) == ({"attention.py": b"not python at all("}, (), ())


@pytest.mark.parametrize(
    "name",
    [
        "attention (1).py",
        "Attention.py",
        "attention.PY",
        "hw8_final(2).py",
        "submission-3.py",
        "attention.py.txt",
        "deep/in/folders/solution.py",
    ],
)
def test_a_renamed_file_is_known_by_its_functions_and_the_student_told(tmp_path: Path, name: str) -> None:
    tree = read(hand_in(tmp_path, {name: RIGHT}))
    assert tree.files["attention.py"] == RIGHT.encode()
    assert tree.notes == (f"{name} {TOLD}",)


def test_a_renamed_file_stays_under_its_own_name_too(tmp_path: Path) -> None:
    tree = read(hand_in(tmp_path, {"mine.py": RIGHT, "helpers.py": "import mine"}))
    assert sorted(tree.files) == ["attention.py", "helpers.py", "mine.py"]


def test_a_renamed_file_with_a_syntax_error_is_known_all_the_same(tmp_path: Path) -> None:
    tree = read(hand_in(tmp_path, {"mine.py": RIGHT + "def broken(:\n"}))
    assert tree.files["attention.py"].startswith(SOFTMAX.encode())


def test_a_file_of_nearly_the_name_that_defines_nothing_is_taken(tmp_path: Path) -> None:
    tree = read(hand_in(tmp_path, {"attention (1).py": "x = 1\n", "other.py": "y = 1\n"}))
    assert tree.files["attention.py"] == b"x = 1\n"
    assert "since its name is so near" in tree.notes[0]


def test_of_several_renamed_files_the_one_with_most_functions_is_taken(tmp_path: Path) -> None:
    tree = read(hand_in(tmp_path, {"a.py": SOFTMAX, "b.py": RIGHT, "c.py": "softmax = 3\n"}))
    assert tree.files["attention.py"] == RIGHT.encode()


def test_one_file_may_hold_all_parts(tmp_path: Path) -> None:
    everything = RIGHT + "def encode(x): return x\ndef decode(x): return x\n"
    tree = read(hand_in(tmp_path, {"everything.py": everything}), TOKENS, ATTENTION)
    assert tree.files["attention.py"] == tree.files["tokens.py"] == everything.encode()


def test_another_parts_file_is_not_taken_for_a_helper_in_it(tmp_path: Path) -> None:
    tree = read(hand_in(tmp_path, {"tokens.py": f"{SOFTMAX}def encode(x): return x\n"}), TOKENS, ATTENTION)
    assert sorted(tree.files) == ["tokens.py"]
    assert tree.notes == ("attention.py was not handed in, and no other file defines softmax, attend, Heads.",)


def test_a_part_that_is_missing_is_said_and_is_no_fault(tmp_path: Path) -> None:
    tree = read(hand_in(tmp_path, {"homework.py": "x = 1\n"}))
    assert tree.files == {"homework.py": b"x = 1\n"}
    assert tree.notes == ("attention.py was not handed in, and no other file defines softmax, attend, Heads.",)


def test_the_file_further_up_is_taken_of_two_of_one_name_and_the_student_told(tmp_path: Path) -> None:
    tree = read(hand_in(tmp_path, {"attention.py": RIGHT, "old/attention.py": SOFTMAX}))
    assert tree.files == {"attention.py": RIGHT.encode(), "old/attention.py": SOFTMAX.encode()}
    assert tree.notes == (
        "attention.py was graded as attention.py. Not graded: old/attention.py, which also has softmax. "
        "Hand in one only.",
    )


def test_two_copies_of_one_file_are_one(tmp_path: Path) -> None:
    assert read(hand_in(tmp_path, {"a/attention.py": RIGHT, "b/attention.py": RIGHT})).notes == ()


@pytest.mark.parametrize("name", ["attention_done.py", "work/attention.py"])
def test_work_beside_an_untouched_starter_is_graded(tmp_path: Path, name: str) -> None:
    tree = read(hand_in(tmp_path, {"attention.py": STUB, name: RIGHT}))
    assert tree.files["attention.py"] == RIGHT.encode()
    assert name in tree.notes[0]


def test_a_notebook_beside_an_untouched_starter_is_graded(tmp_path: Path) -> None:
    tree = read(hand_in(tmp_path, {"attention.py": STUB, "hw.ipynb": notebook(SOFTMAX)}))
    assert loaded(tree)["softmax"](1, 2) == ("softmax", 1, 2)
    assert tree.notes[0] == (
        "attention.py is the starter code as it was; hw.ipynb, which defines softmax, was graded in its place."
    )


@pytest.mark.parametrize("content", [SOFTMAX, "from mine import *\n", "from mine import softmax\n", "def broken(:\n"])
def test_a_file_of_the_right_name_that_holds_work_is_taken_before_others(tmp_path: Path, content: str) -> None:
    tree = read(hand_in(tmp_path, {"attention.py": content, "mine.py": RIGHT, "hw.ipynb": notebook(RIGHT)}))
    assert tree.files["attention.py"] == content.encode()


def test_the_untouched_starter_alone_is_graded(tmp_path: Path) -> None:
    assert read(hand_in(tmp_path, {"attention.py": STUB})).files == {"attention.py": STUB.encode()}


def test_tests_of_a_students_own_are_not_taken_for_a_part(tmp_path: Path) -> None:
    tree = read(hand_in(tmp_path, {"test_mine.py": RIGHT, "mine.py": SOFTMAX}))
    assert tree.files["attention.py"] == SOFTMAX.encode()


def test_files_beside_a_part_in_a_folder_stand_beside_it(tmp_path: Path) -> None:
    tree = read(hand_in(tmp_path, {"hw 8/src/attention.py": RIGHT, "hw 8/src/helpers.py": "", "hw 8/src/w.JSON": "{}"}))
    assert sorted(tree.files) == ["attention.py", "helpers.py", "w.json"]


def test_parts_in_different_folders_come_together(tmp_path: Path) -> None:
    files = {"part1/tokens.py": "def encode(x): ...", "part2/attention.py": RIGHT, "part2/helpers.py": ""}
    tree = read(hand_in(tmp_path, files), TOKENS, ATTENTION)
    assert sorted(tree.files) == ["attention.py", "helpers.py", "tokens.py"]


def test_a_text_file_with_a_line_like_python_stays_as_it_came(tmp_path: Path) -> None:
    text = b"x = 1\r\nGr\xf6\xdfe\r\n"
    assert read(hand_in(tmp_path, {"attention.py": RIGHT, "corpus.txt": text})).files["corpus.txt"] == text


def test_an_unreadable_notebook_beside_the_work_is_a_note_to_both(tmp_path: Path) -> None:
    tree = read(hand_in(tmp_path, {"attention.py": RIGHT, "scratch.ipynb": b""}))
    said = "scratch.ipynb is an empty file: save the notebook and hand it in again."
    assert (tree.notes, tree.staff) == ((said,), (f"Not read: {said}",))


def test_an_unreadable_notebook_that_may_hold_a_missing_part_leaves_all_ungraded(tmp_path: Path) -> None:
    home = hand_in(tmp_path, {"tokens.py": "def encode(x): ...", "HW8 Attention.ipynb": notebook(RIGHT)[:100]})
    with pytest.raises(Unreadable, match=r"student_01: HW8 Attention\.ipynb was cut off"):
        read(home, TOKENS, ATTENTION)


def test_a_notebook_that_is_too_large_leaves_all_ungraded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("autograder.intake.files", fromlist=["LARGEST"]).LARGEST, ".ipynb", 10)
    with pytest.raises(Unreadable, match=r"hw\.ipynb \(0 MB\) is too large to be read: clear its outputs"):
        read(hand_in(tmp_path, {"hw.ipynb": notebook(RIGHT)}))


@pytest.mark.parametrize("files", [{}, {"plot.png": "x"}, {"notes.txt": "no code"}, {"__MACOSX/._attention.py": "x"}])
def test_a_folder_with_nothing_to_grade_is_a_sentence(tmp_path: Path, files: dict[str, str | bytes]) -> None:
    with pytest.raises(
        Unreadable, match=r"^student_01 holds no file that could be graded.*: expected attention\.py, or"
    ):
        read(hand_in(tmp_path, files))


def test_what_was_left_out_is_said(tmp_path: Path) -> None:
    tree = read(hand_in(tmp_path, {"attention.py": RIGHT, "weights.pt": b"x", "b.npy": b"x"}))
    assert tree.notes == (
        "Left out, since only these files are kept (.json, .py, .safetensors, .txt): b.npy, weights.pt.",
    )
    assert tree.staff == tree.notes


def test_the_encoding_of_a_part_is_said(tmp_path: Path) -> None:
    tree = read(hand_in(tmp_path, {"attention.py": RIGHT.encode("utf-16")}))
    assert tree.files["attention.py"] == RIGHT.encode()
    assert tree.notes[0].startswith("attention.py is saved as UTF-16")


def test_of_two_notebooks_the_one_with_the_functions_is_taken(tmp_path: Path) -> None:
    tree = read(hand_in(tmp_path, {"a.ipynb": notebook("x = 1"), "b.ipynb": notebook(SOFTMAX)}))
    assert tree.notes == (
        "attention.py was taken from b.ipynb, which defines softmax. Nothing was run but definitions.",
    )


EXPORTS = {
    "nbconvert": "# coding: utf-8\n\n# In[1]:\n\nget_ipython().run_line_magic('matplotlib', 'inline')\n"
    "get_ipython().system('pip install einops')\n\n# In[ ]:\n\n" + SOFTMAX + "\n# In[3]:\n\ntrain(1 / 0)\n",
    "Colab": '# -*- coding: utf-8 -*-\n"""hw8.ipynb\n\nAutomatically generated by Colab.\n"""\n\n!pip install x\n'
    "from google.colab import drive\ndrive.mount('/content/drive')\n%cd /content/drive/MyDrive\n" + SOFTMAX + "1 / 0\n",
    "percent": "# %% [markdown]\n# Homework\n# %%\n%matplotlib inline\n# %%\n" + SOFTMAX,
}


@pytest.mark.parametrize("text", EXPORTS.values(), ids=EXPORTS.keys())
@pytest.mark.parametrize("name", ["attention.py", "hw8.py"])
def test_a_script_exported_from_a_notebook_is_read_as_the_notebook(tmp_path: Path, text: str, name: str) -> None:
    tree = read(hand_in(tmp_path, {name: text}))
    assert loaded(tree)["softmax"](1, 2) == ("softmax", 1, 2)
    assert tree.notes == (f"{name} is a notebook under another name: of it, softmax and what they need were graded.",)


@pytest.mark.parametrize("text", [SOFTMAX + '"""\n!note\n%d\n"""\n', SOFTMAX + "!\ndef broken(:\n"])
def test_a_script_that_only_looks_so_is_handed_on_as_it_stands(tmp_path: Path, text: str) -> None:
    assert read(hand_in(tmp_path, {"attention.py": text})).files == {"attention.py": text.encode()}


@pytest.mark.parametrize("name", ["attention.py", "hw8.py", "hw8.ipynb.txt", "hw8.ipynb.json", "HW8.IPYNB"])
def test_a_notebook_under_another_name_is_a_notebook(tmp_path: Path, name: str) -> None:
    tree = read(hand_in(tmp_path, {name: notebook(SOFTMAX)}))
    assert loaded(tree)["softmax"](1, 2) == ("softmax", 1, 2)


OTHER = RIGHT.replace("'softmax'", "'other'")
AMBIGUOUS: dict[str, tuple[dict[str, str | bytes], str, str]] = {
    "two names": ({"hw8.py": OTHER, "hw8_final.py": RIGHT}, "hw8.py", "hw8_final.py"),
    "two notebooks": ({"hw.ipynb": notebook(OTHER), "hw_final.ipynb": notebook(RIGHT)}, "hw.ipynb", "hw_final.ipynb"),
    "an old folder": ({"old/attention.py": OTHER, "hw.py": RIGHT}, "hw.py", "old/attention.py"),
    "two folders": ({"v1/attention.py": OTHER, "v2/attention.py": RIGHT}, "v1/attention.py", "v2/attention.py"),
    "a zip": (
        {"hw.zip": zipped({"attention.py": OTHER}), "attention.py": RIGHT},
        "attention.py",
        "hw.zip/attention.py",
    ),
    "more functions": ({"a.py": SOFTMAX, "b.py": RIGHT}, "b.py", "a.py"),
}


@pytest.mark.parametrize(("files", "taken", "other"), AMBIGUOUS.values(), ids=AMBIGUOUS.keys())
def test_two_candidates_for_a_part_are_said_to_both(
    tmp_path: Path, files: dict[str, str | bytes], taken: str, other: str
) -> None:
    tree = read(hand_in(tmp_path, files))
    assert any(f"{taken} was graded as attention.py. Not graded: {other}, which also has" in one for one in tree.notes)
    assert tree.staff[0].startswith(f"ambiguous: attention.py was taken from {taken}, not from {other}")


def test_candidates_of_equal_content_and_stubs_are_no_ambiguity(tmp_path: Path) -> None:
    assert read(hand_in(tmp_path, {"a.py": RIGHT, "b.py": RIGHT}, "equal")).staff == ()
    assert read(hand_in(tmp_path, {"a.py": STUB, "old/b.py": RIGHT}, "stub")).staff == ()


LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
NO_PYTHON: dict[str, tuple[str | bytes, str]] = {
    "Git LFS": (LFS, "is a Git LFS pointer"),
    "log-in page": ("\n<!DOCTYPE html><html><title>Sign in</title>", "is a web page, perhaps the log-in page"),
    "page with a mark": ("\ufeff<HTML lang='en'>", "is a web page"),
    "no such page": ("404: Not Found", "is a site's answer"),
    "answer of a site": (json.dumps({"message": "Not Found", "status": 404}, indent=1), "is JSON"),
    "list of a site": ('[ {"error": null}]\n', "is JSON"),
    "zip": (zipped({"attention.py": RIGHT}), "is a zip, not Python"),
    "gzip": (b"\x1f\x8b\x08\x01\x02", "is a gzip archive"),
    "random bytes": (bytes((7 * n) % 255 + 1 for n in range(2000)), "holds bytes that are no text"),
    "empty": ("", "is an empty file"),
    "blank": ("\ufeff\r\n \r\n", "is an empty file"),
}


@pytest.mark.parametrize(("content", "sentence"), NO_PYTHON.values(), ids=NO_PYTHON.keys())
@pytest.mark.parametrize("name", ["attention.py", "hw8.py", "attention (1).py"])
def test_what_cannot_be_the_students_code_is_unreadable_and_no_0(
    tmp_path: Path, content: str | bytes, sentence: str, name: str
) -> None:
    with pytest.raises(Unreadable, match=rf"^student_01: {re.escape(name)} {re.escape(sentence)}.*: hand") as caught:
        read(hand_in(tmp_path, {name: content}))
    assert caught.value.exit_code == 1


def test_a_pointer_in_the_place_of_one_part_leaves_all_ungraded(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"tokens\.py is a Git LFS pointer"):
        read(hand_in(tmp_path, {"attention.py": RIGHT, "tokens.py": LFS}), TOKENS, ATTENTION)


def test_a_pointer_in_the_place_of_a_helper_is_a_note(tmp_path: Path) -> None:
    tree = read(hand_in(tmp_path, {"attention.py": RIGHT, "weights.py": LFS}))
    assert tree.files == {"attention.py": RIGHT.encode()}
    assert "weights.py is a Git LFS pointer" in tree.notes[0]


PYTHON_ALL_THE_SAME = {
    "a syntax error": RIGHT + "def broken(:\n",
    "a dictionary first": "{'a': 1}\n" + RIGHT,
    "a name like a magic number": "BZh = 3\nversion = 1\n" + RIGHT,
    "escapes in a string": RIGHT + "RED = '\x1b[31m'\nPAGE = '\x0c'\n",
    "Greek in Latin-7": (RIGHT + "# \u03b1\u03b2\u03b3\n").encode("iso8859-7"),
    "Chinese": (RIGHT + "# \u4e2d\u6587\u4e2d\u6587\n").encode("gb18030"),
    "a parenthesis open at the end": RIGHT + "x = (1,",
}


@pytest.mark.parametrize("content", PYTHON_ALL_THE_SAME.values(), ids=PYTHON_ALL_THE_SAME.keys())
def test_python_with_a_mistake_or_an_old_encoding_is_graded(tmp_path: Path, content: str | bytes) -> None:
    assert "softmax" in read(hand_in(tmp_path, {"attention.py": content})).files["attention.py"].decode()


LONG = f"{SOFTMAX}{'# A line of a comment, as long as others are.' * 20}\n{ATTEND}"
CUT_OFF = {
    "in a call": LONG + "class Heads:\n    def forward(self, x):\n        return softmax(x, di",
    "in a docstring": LONG.replace("def attend", 'def attended(x):\n    """Attend to'),
    "after a definition": LONG.replace(ATTEND, "def attend(x, y):"),
}


@pytest.mark.parametrize("content", CUT_OFF.values(), ids=CUT_OFF.keys())
def test_a_file_that_breaks_off_before_some_of_its_functions_is_unreadable(tmp_path: Path, content: str) -> None:
    expected = content.removesuffix("\n")
    home = hand_in(tmp_path, {"attention.py": expected.replace("class Heads", "class Head")})
    with pytest.raises(Unreadable, match=r"student_01: attention\.py was cut off in line \d+: hand it in again"):
        read(home)


@pytest.mark.parametrize(
    "content",
    [
        f"{LONG}class Heads:\n    x = (",  # it has all functions
        f"{LONG}def heads(x):\n    return (x\n",  # its last line is whole
        f"x = (1,\n{LONG}def heads(x):\n    return x",  # the mistake is further up
        f"{LONG}def heads(x):\n    return x",  # no mistake
    ],
)
def test_a_syntax_error_is_not_taken_for_a_file_that_breaks_off(tmp_path: Path, content: str) -> None:
    assert read(hand_in(tmp_path, {"attention.py": content})).files["attention.py"] == content.encode()


HELPERS: dict[str, dict[str, str | bytes]] = {
    "imported": {"attention.py": "from tools import softmax\n" + RIGHT, "tools.py": OTHER},
    "imported in a list": {"attention.py": "import math, tools as t\n" + RIGHT, "tools.py": OTHER},
    "imported in a package": {"attention.py": "from lib.tools import x\n" + RIGHT, "lib/tools.py": OTHER},
    "beside the right name": {"attention.py": RIGHT, "tools.py": SOFTMAX.replace("'softmax'", "0")},
    "small": {"attention.py": RIGHT + "class Heads: ...\n", "tools.py": SOFTMAX.replace("'softmax'", "0")},
}


@pytest.mark.parametrize("files", HELPERS.values(), ids=HELPERS.keys())
def test_a_helper_that_defines_a_name_of_the_part_is_no_second_hand_in(
    tmp_path: Path, files: dict[str, str | bytes]
) -> None:
    tree = read(hand_in(tmp_path, files))
    assert (tree.notes, tree.staff) == ((), ())
