"""What makes the traces of a mistake stale, and what does not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from autograder.assignment.bank import bank
from autograder.authoring.proof.evidence import PACKAGE, Evidence, code_of, deciding_sources, grader_digest
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


# ------------------------------------------------------------------ the grader's own sources


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("sources") / "autograder"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def moved(sources: Path, file: str, added: str = "_ADDED = 1") -> bool:
    """Whether the digest is another one where `added` stands at the end of `file`, which is put back."""
    path = sources / file
    text, before = path.read_text(), grader_digest(sources)
    path.write_text(f"{text}\n{added}\n")
    try:
        return grader_digest.__wrapped__(sources) != before
    finally:
        path.write_text(text)


@pytest.mark.parametrize(
    "file",
    [
        "assignment/manifest.py",
        "authoring/proof/influence.py",
        "diagnosis/fingerprint.py",
        "errors.py",
        "grading/checks.py",
        "grading/line.py",
        "grading/verdict.py",
        "results.py",
        "sandbox/account.py",
        "sandbox/worker.py",
        "student_error.py",
        "testing/causality.py",
        "text.py",
        "worker/child.py",
        "worker/forkserver/quota.py",
        "worker/layers/seccomp.py",
        "worker/protocol/wire.py",
    ],
)
def test_a_change_of_what_gives_a_verdict_moves_the_digest(sources: Path, file: str) -> None:
    assert moved(sources, file)


@pytest.mark.parametrize(
    "file",
    [
        "authoring/starter_code.py",
        "cli.py",
        "commands/grade.py",
        "diagnosis/hints.py",
        "gradescope/harness.py",
        "grading/record.py",
        "intake/matching.py",
        "progress.py",
        "report/console.py",
        "run/pool.py",
        "sandbox/probes/proofs.py",
    ],
)
def test_a_change_of_how_a_grade_is_made_ready_or_drawn_does_not(sources: Path, file: str) -> None:
    assert not moved(sources, file)


def test_every_room_is_named_in_one_of_these_two_tests(sources: Path) -> None:
    tried = [*_parameters(test_a_change_of_what_gives_a_verdict_moves_the_digest)]
    tried += _parameters(test_a_change_of_how_a_grade_is_made_ready_or_drawn_does_not)
    rooms = {path.relative_to(sources).parts[0] for path in sources.rglob("*.py")} - {"__init__.py"}
    assert rooms - {name.partition("/")[0] for name in tried} <= {"processors.py", "toml_file.py", "zip_file.py"}


def _parameters(test) -> list[str]:
    return next(mark.args[1] for mark in test.pytestmark if mark.name == "parametrize")


def test_words_of_the_grader_do_not_move_the_digest(sources: Path) -> None:
    assert not moved(sources, "grading/plugin.py", "# a comment")


def test_a_file_that_is_renamed_stays_in_the_digest(sources: Path) -> None:
    before = grader_digest(sources)
    replaced(sources / "sandbox/worker.py", "sandbox.deaths", "sandbox.answers")
    (sources / "sandbox/deaths.py").rename(sources / "sandbox/answers.py")
    try:
        assert "sandbox/answers.py" in deciding_sources(sources)
        assert grader_digest.__wrapped__(sources) != before
    finally:
        (sources / "sandbox/answers.py").rename(sources / "sandbox/deaths.py")
        replaced(sources / "sandbox/worker.py", "sandbox.answers", "sandbox.deaths")


def test_a_root_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "autograder").mkdir()
    with pytest.raises(FileNotFoundError, match="write its new name there"):
        grader_digest(tmp_path / "autograder")
