"""The tiny assignment that hostile submissions are handed in for: three checks, the last one hidden, with canaries.

Its hidden check is written as a careless author would write it: it trusts methods of what came back. The reference
and the hidden check hold canary strings and a number, which nothing that students see may contain.
"""

from __future__ import annotations

from pathlib import Path

from autograder.assignment.assignment import Assignment
from tests.tiny import REFERENCE, tiny_assignment

CANARIES = ("CANARY", "90210439", "90210437")
LIMITS = "cpu_seconds = 0.5\nimport_seconds = 2\nmemory_mb = 256"

CHECKS = '''
from autograder.testing.numbers import assert_close

@number("1.1")
@weight(2)
def test_doubles(student, reference, cases):
    """Doubling gives twice the number"""
    for n in (1, 5):
        x = cases.tensor(n, 3)
        assert_close(student.double(x), reference.double(x), "doubled", within=1e-5, dtype=x.dtype)

@number("1.2")
@weight(1)
def test_gradient(student, cases):
    """The gradient of doubling is 2, and the argument stays as it is"""
    x = cases.tensor(4)
    found = student.vjp(student.double, [x], [torch.ones(4)])
    assert_close(found.args[0], torch.full((4,), 2.0), "gradient", within=1e-5)
    assert torch.equal(student.observe(student.double, x).args[0], x), "the argument was changed"
'''

HIDDEN = '''
SECRET = "CANARY in a hidden check"

@number("1.3")
@weight(3)
@visibility("hidden")
def test_more(student, reference, cases):
    """Doubling is right for numbers that nobody has seen"""
    x = cases.tensor(7)
    got, expected = student.double(x), reference.double(x)
    assert got.shape == expected.shape and got.equal(expected), f"CANARY {SECRET}: {expected.tolist()}"
    got = student.Counter(90210437).step(2)
    assert got == reference.Counter(90210437).step(2), f"CANARY: {got} is not 90210439"
'''


def hostile_assignment(folder: Path) -> Assignment:
    """Written below `folder`, its hidden material closed as `make setup` closes it."""
    reference = REFERENCE.replace('"""Numbers, doubled."""', '"""CANARY in a reference."""\nSECRET = "CANARY"')
    made = tiny_assignment(folder, CHECKS, HIDDEN, points=6, reference=reference, limits=LIMITS)
    made.hidden.chmod(0o700)
    made.solutions.chmod(0o700)
    return made
