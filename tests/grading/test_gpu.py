"""A check that asks for a GPU has a fault of its own, which is no student's: workers see none."""

from __future__ import annotations

from pathlib import Path

from tests.running import results_here
from tests.tiny import REFERENCE, tiny_assignment

CHECK = '''
@number("1.1")
@weight(2)
def test_memory(student, reference, cases):
    """Memory is small"""
    student.measure(student.double, lambda n: (cases.tensor(n),), [4], device="cuda")
'''


def test_a_check_that_measures_on_a_gpu_is_broken_and_says_what_to_type(tmp_path: Path) -> None:
    result = results_here(tiny_assignment(tmp_path, CHECK), REFERENCE, tmp_path)["1.1"]
    assert result.outcome == "broken"
    assert "softmark memory --device cuda" in str(result.reason)
