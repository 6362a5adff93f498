"""What a pytest function must say to be a check, and what is refused in a sentence."""

from __future__ import annotations

import pytest

from autograder.assignment.assignment import load_assignment
from autograder.errors import SoftmarkError
from autograder.grading.plugin import Checks
from autograder.grading.pytest_session import with_checks
from autograder.results import number_key
from tests.tiny import ONE_CHECK, tiny_assignment


def collected(assignment):
    checks = Checks(assignment, None)
    with_checks(checks, lambda: None)
    return checks.checks


def test_number_weight_title_and_reading_come_from_the_decorators(tmp_path):
    source = """
    @number("1.1")
    @weight(2)
    @tags("a", "b")
    @pytest.mark.read("handout 1")
    @pytest.mark.timeout(7)
    def test_doubles(student):
        \"\"\"Doubling gives twice the number

        More for the author.\"\"\"
    """
    (check,) = collected(tiny_assignment(tmp_path, source))
    assert (check.number, check.weight, check.title) == ("1.1", 2.0, "Doubling gives twice the number")
    assert (check.reading, check.seconds, check.tags, check.part) == ("handout 1", 7.0, ("a", "b"), "numbers_part")
    assert not check.hidden


def test_the_default_time_limit_is_the_manifests(tmp_path):
    (check,) = collected(tiny_assignment(tmp_path, limits="cpu_seconds = 3"))
    assert check.seconds == 3.0


def test_checks_are_ordered_by_number_and_not_by_spelling():
    assert sorted(["2.10", "2.9", "1.1", "2.1b"], key=number_key) == ["1.1", "2.1b", "2.9", "2.10"]


def test_a_parametrised_check_is_one_check_of_several_items(tmp_path):
    source = """
    @pytest.mark.parametrize("n", [1, 2, 3])
    @number("1.1")
    @weight(2)
    def test_doubles(student, n):
        \"\"\"Doubling\"\"\"
    """
    (check,) = collected(tiny_assignment(tmp_path, source))
    assert len(check.items) == 3


def test_wrappers_of_gradescope_utils_are_taken_off(tmp_path):
    source = """
    @weight(2)
    @number("1.1")
    @partial_credit(3)
    def test_doubles(student, set_score):
        \"\"\"Doubling\"\"\"
    """
    (check,) = collected(tiny_assignment(tmp_path, source))
    assert check.partial
    assert check.weight == 2, "the outer decorator wins"
    assert "gradescope_utils" not in check.items[0].obj.__code__.co_filename


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("@weight(2)\ndef test_a(student):\n    'x'\n", "has no number"),
        ("@number('1.1')\ndef test_a(student):\n    'x'\n", "has no weight"),
        ("@number('1.1')\n@weight(2)\ndef test_a(student):\n    pass\n", "has no docstring"),
        ("@number('1.1')\n@weight(float('nan'))\ndef test_a(student):\n    'x'\n", "weight of nan"),
        ("@number('1.1')\n@weight(-1)\ndef test_a(student):\n    'x'\n", "weight of -1"),
        ("@number('1.1')\n@weight(2)\n@visibility('hidden')\ndef test_a(student):\n    'x'\n", "ships to students"),
        (
            "@number('1.1')\n@weight(2)\n@visibility('secret')\ndef test_a(student):\n    'x'\n",
            "'secret' is not a visib",
        ),
        ("@number('1.1')\n@weight(2)\n@pytest.mark.timeout(0)\ndef test_a(student):\n    'x'\n", "timeout(0)"),
        ("class TestA:\n    def test_a(self):\n        'x'\n", "a check is a plain function"),
        (ONE_CHECK + "\n@number('1.1')\n@weight(0)\ndef test_b(student):\n    'x'\n", "Two checks have number 1.1"),
        ("import nothing_of_this_name\n", "nothing_of_this_name"),
        ("def test_a(:\n", "cannot be collected"),
    ],
)
def test_what_is_no_check_is_refused_in_one_sentence(tmp_path, source, sentence):
    with pytest.raises(SoftmarkError) as caught:
        collected(tiny_assignment(tmp_path, source))
    assert sentence in str(caught.value)
    assert "Traceback" not in str(caught.value)


def test_a_hidden_check_must_be_marked_so(tmp_path):
    hidden = ONE_CHECK.replace('"1.1"', '"1.2"')
    with pytest.raises(SoftmarkError, match="is in hidden/ but is not marked as hidden"):
        collected(tiny_assignment(tmp_path, hidden=hidden))


@pytest.mark.parametrize(
    ("rule", "unknown"),
    [
        ("torch.sofmax", "torch.sofmax"),
        ("torch.nn.functionl.softmax", "torch.nn.functionl.softmax"),
        ("import torch.optimiser", "torch.optimiser"),
        ("import torch.nn except torch.nn.Module, torch.nn.Liner", "torch.nn.Liner"),
    ],
)
def test_a_ban_of_a_name_that_its_package_does_not_have_is_told_by_name(tmp_path, rule, unknown):
    with pytest.raises(SoftmarkError, match=f"forbids '{rule}', but torch has no '{unknown}'"):
        collected(_forbidding(tmp_path, rule))


@pytest.mark.parametrize(
    "rule",
    [
        "torch.Tensor.softmax",
        "torch.nn.attention.flex_attention.flex_attention",
        "import torch.nn except torch.nn.Module",
        "import a_package_that_is_not_installed",
    ],
)
def test_a_ban_of_a_known_name_or_of_a_package_that_is_not_here_stands(tmp_path, rule):
    (check,) = collected(_forbidding(tmp_path, rule))
    assert check.forbids == (rule,)


def _forbidding(folder, rule):
    tiny_assignment(folder, ONE_CHECK)
    manifest = folder / "assignments" / "tiny" / "assignment.toml"
    manifest.write_text(manifest.read_text().replace("functions =", f'forbids = ["{rule}"]\nfunctions ='))
    return load_assignment(manifest.parent)
