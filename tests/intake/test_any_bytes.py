"""Whatever is handed in, the answer is a source tree or a sentence, and never an exception of another kind."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.errors import Unreadable
from autograder.intake.submission import SourceTree
from tests.intake.handins import ATTEND, SOFTMAX, markdown, notebook, read, zipped

NOTEBOOK = notebook(markdown("# Homework"), "import torch\nD = 3", SOFTMAX, ATTEND)
ZIP = zipped({"hw/attention.py": SOFTMAX, "hw/größe.json": "{}", "hw.ipynb": NOTEBOOK})


def tree_or_sentence(name: str, data: bytes) -> SourceTree | str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        try:
            return read(path)
        except Unreadable as error:
            assert name in str(error)
            assert folder not in str(error)
            return str(error)


def damaged(good: bytes) -> st.SearchStrategy[bytes]:
    """The bytes with a stretch of them replaced by others, or cut off."""
    place = st.integers(0, len(good))
    return st.builds(
        lambda start, length, put, cut: (good[:start] + put + good[start + length :])[: cut or None],
        place,
        st.integers(0, 60),
        st.one_of(
            st.binary(max_size=40), st.sampled_from([b"null", b"[", b"}", b'"', b"\0" * 9, b"-1", b"\xff\xff\xff\xff"])
        ),
        st.one_of(st.just(0), place),
    )


@settings(max_examples=40, deadline=None)
@given(damaged(NOTEBOOK))
def test_any_damage_to_a_notebook(data: bytes) -> None:
    assert isinstance(tree_or_sentence("hw.ipynb", data), (SourceTree, str))


@settings(max_examples=100, deadline=None)
@given(damaged(ZIP))
def test_any_damage_to_a_zip(data: bytes) -> None:
    assert isinstance(tree_or_sentence("hw.zip", data), (SourceTree, str))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300))
def test_any_python_file_is_handed_on_unless_it_is_no_text(data: bytes) -> None:
    tree = tree_or_sentence("attention.py", data)
    if isinstance(tree, SourceTree):
        assert list(tree.files) == ["attention.py"]
    else:
        assert re.search(r"holds bytes that are no text|is an empty file|, not Python:", tree)
