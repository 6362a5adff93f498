"""What makes the traces of a mistake stale, and what does not."""

from __future__ import annotations

import pytest

from autograder.assignment.bank import bank
from autograder.authoring.proof.evidence import Evidence, code_of
from tests.tiny import tiny_assignment

TREBLES = '"""It trebles."""\nCAUGHT_BY = ["1.1"]\n\ndef double(x):\n    return 3 * x\n'


def write(assignment, text=TREBLES):
    folder = assignment.solutions / "mistakes" / "numbers_part"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "trebles.py").write_text(text)
    return folder


def digest(assignment):
    (part,) = assignment.parts
    return Evidence(assignment).of(part, bank(assignment, part)[0])


def replaced(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("solutions/tiny/mistakes/numbers_part/trebles.py", "3 * x", "4 * x"),
        ("solutions/tiny/numbers_part.py", "self.value += by", "self.value -= by"),
        ("assignments/tiny/checks/test_numbers_part.py", "cases.tensor(3)", "cases.tensor(4)"),
        ("assignments/tiny/checks/hidden/key", "tiny-hidden", "another"),
        ("assignments/tiny/assignment.toml", "tiny-visible", "another"),
    ],
)
def test_what_decides_a_trace_makes_it_stale(tmp_path, file, old, new):
    assignment = tiny_assignment(tmp_path)
    write(assignment)
    before = digest(assignment)
    replaced(tmp_path / file, old, new)
    assert digest(assignment) != before


def test_weights_make_it_stale(tmp_path):
    assignment = tiny_assignment(tmp_path)
    folder = write(assignment)
    before = digest(assignment)
    (folder / "trebles").mkdir()
    (folder / "trebles" / "w.safetensors").write_bytes(b"bad")
    assert digest(assignment) != before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("solutions/tiny/mistakes/numbers_part/trebles.py", "It trebles.", "Three times instead of twice."),
        ("solutions/tiny/numbers_part.py", "# END SOLUTION", "# END SOLUTION\n    # a comment, and an empty line\n"),
        ("solutions/tiny/numbers_part.py", "Counts up from a start.", "Counts."),
    ],
)
def test_words_do_not(tmp_path, file, old, new):
    assignment = tiny_assignment(tmp_path)
    write(assignment)
    before = digest(assignment)
    replaced(tmp_path / file, old, new)
    assert digest(assignment) == before


def test_the_code_of_a_source_is_all_but_its_words():
    lines = ['"""Doc.', "", "# no comment", '"""', 'x = "# é"  # é', 'def f(): "doc"; return 1', "class C:"]
    lines += ['    """Doc."""', "", '    y = """text"""']
    assert code_of("\n".join(lines)).splitlines() == ['x = "# é"', lines[5], lines[6], lines[9]]
