"""What `validate` proves, and that it names what falls short. On the tiny assignment, with real workers."""

from __future__ import annotations

from textwrap import dedent

import pytest

from autograder.assignment.assignment import load_assignment
from autograder.commands.validate import candidates_of, prove
from autograder.errors import SoftmarkError
from autograder.grading.known_mistakes import made_from
from autograder.grading.reference import Reference
from tests.tiny import ONE_CHECK, REFERENCE, tiny_assignment


def entry(assignment, kind, name, text):
    folder = assignment.solutions / f"{kind}s" / "numbers_part"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text(dedent(text))


TREBLES = '''
    """It trebles instead of doubling."""
    CAUGHT_BY = ["1.1"]

    def double(x):
        return 3 * x
'''
ADDS = '''
    """Adding is doubling, too."""

    def double(x):
        return x + x
'''


def test_a_sound_assignment_falls_short_nowhere(tmp_path, session):
    assignment = tiny_assignment(tmp_path)
    entry(assignment, "mistake", "trebles", TREBLES)
    entry(assignment, "variant", "adds", ADDS)
    report = prove(assignment, session, 2)
    assert report.shortfalls == ()
    assert report.last_line() == "reference 2/2 · starter 0/2 · mistakes 1/1 caught · variants 1/1 full marks"
    assert report.matrix == {"mistake-numbers_part-trebles": ("1.1",)}


def test_reference_starter_and_three_trivial_answers_are_always_graded(tmp_path):
    names = [candidate.name for candidate in candidates_of(tiny_assignment(tmp_path))]
    assert names == ["reference", "starter", "trivial-zeros", "trivial-uniform", "trivial-first-argument"]


def shortfalls(assignment, session):
    return {each.candidate: each.sentence for each in prove(assignment, session, 2).shortfalls}


def test_a_mistake_that_passes_its_check_is_named(tmp_path, session):
    assignment = tiny_assignment(tmp_path)
    entry(assignment, "mistake", "harmless", TREBLES.replace("3 * x", "2 * x"))
    found = shortfalls(assignment, session)
    assert found == {"mistake-numbers_part-harmless": "must fail check 1.1, but passes it (it fails: none)"}


def test_a_variant_that_loses_a_point_is_named_with_the_check_and_the_reason(tmp_path, session):
    assignment = tiny_assignment(tmp_path)
    entry(assignment, "variant", "adds", ADDS.replace("x + x", "x + 1"))
    found = shortfalls(assignment, session)
    assert list(found) == ["variant-numbers_part-adds"]
    assert "must pass check 1.1 (test_doubles)" in found["variant-numbers_part-adds"]
    assert "not twice the number" in found["variant-numbers_part-adds"]


def test_a_mistake_that_crashes_must_say_so(tmp_path, session):
    assignment = tiny_assignment(tmp_path)
    crash = TREBLES.replace("return 3 * x", "import os; os._exit(1)")
    entry(assignment, "mistake", "dies", crash)
    entry(assignment, "mistake", "dies_and_says_so", crash.replace("CAUGHT_BY", "CRASHES = True\n    CAUGHT_BY"))
    found = shortfalls(assignment, session)
    assert list(found) == ["mistake-numbers_part-dies"]
    assert "CRASHES = True" in found["mistake-numbers_part-dies"]


@pytest.mark.parametrize(
    ("kind", "check"),
    [
        ("zeros", "assert torch.equal(student.double(x) + student.double(-x), 0 * x)"),
        ("uniform", "assert student.double(x).std() < 0.01 or torch.equal(student.double(x), 2 * x)"),
        ("first-argument", "assert torch.equal(student.double(x).sign(), x.sign())"),
    ],
)
def test_a_check_that_pays_for_a_trivial_answer_is_named(tmp_path, session, kind, check):
    source = f'''
    @number("1.1")
    @weight(2)
    def test_invariance(student, cases):
        """An invariance without a number"""
        x = cases.tensor(4)
        {check}
    '''
    found = shortfalls(tiny_assignment(tmp_path, source), session)
    assert "gave it 2 of 2" in found[f"trivial-{kind}"]


def test_a_check_that_the_reference_fails_is_named(tmp_path, session):
    source = ONE_CHECK.replace("reference.double(x)", "3 * x")
    found = shortfalls(tiny_assignment(tmp_path, source), session)
    assert "must pass check 1.1 (test_doubles), but failed: " in found["reference"]


@pytest.mark.parametrize(("text", "line"), [("raise ValueError('half written')", 1), ("\ndef double(x:", 2)])
def test_a_reference_that_cannot_be_imported_is_one_sentence(tmp_path, session, text, line):
    reference = tiny_assignment(tmp_path).solutions / "numbers_part.py"
    assignment = load_assignment(tmp_path / "assignments" / "tiny")
    reference.write_text(f"{text}\n")
    with pytest.raises(SoftmarkError, match=rf"numbers_part\.py, line {line}: the reference cannot be imported"):
        Reference(assignment)
    if line == 1:  # the starter cannot be made of what is not Python
        reference.write_text(f"{REFERENCE}\n1 / 0\n")
        with pytest.raises(SoftmarkError, match=r"the reference cannot be imported \(ZeroDivisionError"):
            prove(assignment, session, 2)


def test_a_check_that_breaks_is_named_once_with_its_line_and_error(tmp_path, session):
    source = ONE_CHECK.replace("x = cases.tensor(3)", "x = cases.no_such_draw(3)")
    assignment = tiny_assignment(tmp_path, source)
    entry(assignment, "mistake", "trebles", TREBLES)
    entry(assignment, "variant", "adds", ADDS)
    report = prove(assignment, session, 2)
    ((name, sentence),) = ((each.candidate, each.sentence) for each in report.shortfalls)  # once, not of each candidate
    line = next(i for i, text in enumerate(checks_of(assignment).splitlines(), start=1) if "no_such_draw" in text)
    assert (name, sentence) == (
        "reference",
        f"check 1.1 (test_doubles) is broken: test_numbers_part.py, line {line}: AttributeError: 'Cases' object has no "
        "attribute 'no_such_draw'",
    )
    assert (report.caught, report.right) == (0, 0)


def checks_of(assignment):
    return (assignment.folder / "checks" / "test_numbers_part.py").read_text()


def test_a_bonus_mistake_must_fail_its_named_check(tmp_path, session):
    source = ONE_CHECK + ONE_CHECK.replace('"1.1"', '"1.2"').replace("weight(2)", "weight(0)").replace(
        "doubles", "bonus"
    )
    assignment = tiny_assignment(tmp_path, source)
    entry(assignment, "mistake", "trebles", TREBLES.replace('"1.1"', '"1.2"'))
    report = prove(assignment, session, 2)
    assert (report.caught, report.shortfalls) == (1, ())


def test_a_check_number_that_is_not_there_is_named(tmp_path, session):
    assignment = tiny_assignment(tmp_path)
    entry(assignment, "mistake", "trebles", TREBLES.replace('"1.1"', '"7.7"'))
    assert "7.7" in shortfalls(assignment, session)["mistake-numbers_part-trebles"]


READS_WEIGHTS = """
@number("1.1")
@weight(2)
def test_doubles(student, reference, handed_in, cases):
    \"\"\"Doubling gives twice the number, and the weights say so, too\"\"\"
    x = cases.tensor(3)
    assert torch.equal(student.double(x), reference.double(x)), "not twice the number"
    assert handed_in("none.safetensors") is None
    assert handed_in("w.safetensors") == b"good", "no good weights"
"""


def test_every_candidate_has_the_weights_of_the_reference_and_an_entry_may_bring_its_own(tmp_path, session):
    assignment = tiny_assignment(tmp_path, READS_WEIGHTS)
    (assignment.solutions / "w.safetensors").write_bytes(b"good")
    entry(assignment, "mistake", "bad_weights", '"""The weights are bad."""\nCAUGHT_BY = ["1.1"]')
    own = assignment.solutions / "mistakes" / "numbers_part" / "bad_weights"
    own.mkdir()
    (own / "w.safetensors").write_bytes(b"bad")
    entry(assignment, "variant", "adds", ADDS)
    report = prove(assignment, session, 2)
    assert report.shortfalls == ()
    assert report.last_line() == "reference 2/2 · starter 0/2 · mistakes 1/1 caught · variants 1/1 full marks"


def test_weights_of_an_entry_are_part_of_what_the_bank_was_made_from(tmp_path):
    assignment = tiny_assignment(tmp_path)
    before = made_from(assignment)
    (assignment.solutions / "w.safetensors").write_bytes(b"good")
    assert made_from(assignment) != before
