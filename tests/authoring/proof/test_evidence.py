"""What makes the traces of a mistake stale, and what does not."""

from __future__ import annotations

import pytest

from autograder.assignment.bank import bank
from autograder.authoring.proof.evidence import Evidence, code_of
from tests.tiny import ONE_CHECK, tiny_assignment

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


def test_what_checks_share_makes_it_stale_where_the_parts_checks_import_it(tmp_path):
    assignment = tiny_assignment(tmp_path, "from support import outer\n" + ONE_CHECK)
    write(assignment)
    files = {name: assignment.support / f"{name}.py" for name in ("outer", "inner", "of_another_part")}
    files["hidden"] = assignment.hidden / "support" / "hidden.py"
    for path in files.values():
        path.parent.mkdir(exist_ok=True)
        path.write_text("FIRST = 1\n")
    files["outer"].write_text("from support.inner import FIRST\nimport hidden.support.hidden\n")
    digests = [digest(assignment)]
    for name in ("outer", "inner", "hidden", "of_another_part"):
        files[name].write_text(files[name].read_text() + "MORE = 2\n")
        digests.append(digest(assignment))
    assert len(set(digests)) == 4 and digests[-1] == digests[-2]


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
