"""Hostile submissions where a check hands in callbacks and takes objects: each earns what it is worth, and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.run.session import Session
from tests.hostile.kinds import Kind
from tests.hostile.kinds.forging import WIRE
from tests.hostile.remains import remains
from tests.hostile.test_kinds import graded
from tests.tiny import tiny_assignment

REFERENCE = '''
import torch


def double(f):
    """f, applied to 1, 2 and 3."""
    # BEGIN SOLUTION
    return [f(i) for i in (1, 2, 3)]
    # END SOLUTION


class Counter:
    """Numbers that can be added."""

    def __init__(self, value):
        # BEGIN SOLUTION
        self.value = value

    def __add__(self, other):
        return Counter(self.value + other.value)
        # END SOLUTION
'''
CHECKS = '''
@number("1.1")
@weight(2)
@pytest.mark.parametrize("factor", [2, 3])
def test_maps(student, factor):
    """The function is applied to 1, 2 and 3"""
    seen = []
    def f(x):
        seen.append(x)
        return factor * x + 90210437
    got = student.double(student.callback(f))
    assert got == [factor * x + 90210437 for x in (1, 2, 3)] and seen == [1, 2, 3]

@number("1.2")
@weight(4)
def test_adds(student):
    """Counters are added"""
    total = student.Counter(3) + student.Counter(4)
    assert abs(total.value - 7) < 1e-9
'''
RIGHT = "class Counter:\n    def __init__(self, value):\n        self.value = value\n"
RIGHT += "    def __add__(self, other):\n        return Counter(self.value + other.value)\n"
GIVEN = "\ndef double(f):\n    return [f(i) for i in (1, 2, 3)]\n"
LIAR = """
class Liar:
    def __sub__(self, other):
        print("BREACH", other)
        return 0.0
    def __call__(self, *args): return self
    def __abs__(self): return self
    def __lt__(self, other): return True
class Counter(Liar):
    value = Liar()
    def __init__(self, value): pass
    def __add__(self, other): return self
"""

KINDS = [
    Kind("right", 6, RIGHT + GIVEN),
    Kind("lying_objects", 2, LIAR + GIVEN),
    Kind("a_value_that_is_the_object_itself", 2, LIAR.replace("value = Liar()", "") + """
    @property
    def value(self): return self
""" + GIVEN),
    Kind("a_callback_that_was_never_given", 4, RIGHT + WIRE + """
def double(f):
    answer(messages.CalledBack(77, (1,), {}), current_ticket())
    import time; time.sleep(600)
"""),
    Kind("a_forged_callback_without_ticket", 4, RIGHT + WIRE + """
def double(f):
    answer(messages.CalledBack(0, (1,), {}), 5)
    import time; time.sleep(600)
"""),
    Kind("a_forged_callback_at_import", 0, RIGHT + WIRE + GIVEN + """
answer(messages.CalledBack(0, (1,), {}), current_ticket() or 0)
"""),
    Kind("a_callback_where_none_was_given", 2, RIGHT + WIRE + GIVEN + """
class Counter:
    def __init__(self, value):
        answer(messages.CalledBack(0, (1,), {}), current_ticket())
        import time; time.sleep(600)
"""),
    Kind("a_storm_of_callbacks", 4, RIGHT + """
def double(f):
    while True:
        try:
            f(1)
        except BaseException:
            pass
"""),
    Kind("recursion_through_callbacks", 4, RIGHT + "\ndef double(f):\n    return f(f)\n"),
    Kind("garbage_for_a_callback", 4, RIGHT + "\ndef double(f):\n    return f(1, 2, x=[{}])\n"),
    Kind("deep_garbage_for_a_callback", 4, RIGHT + """
def double(f):
    deep = []
    for _ in range(100): deep = [deep]
    return f(deep)
"""),
    Kind("callbacks_after_the_call", 6, RIGHT + """
import threading, time
def late(f):
    time.sleep(0.05)
    try:
        f(1)
    except BaseException:
        pass
calls = []
def double(f):
    calls.append(f)
    if len(calls) == 2:  # of the last item
        threading.Thread(target=late, args=(f,), daemon=True).start()
    return [f(i) for i in (1, 2, 3)]
"""),
    Kind("a_callback_frame_after_the_answer", 4, RIGHT + WIRE + """
def double(f):
    answer(messages.Returned([1, 2, 3]), current_ticket())
    answer(messages.CalledBack(0, (1,), {}), current_ticket())
    import time; time.sleep(600)
"""),
    Kind("it_dies_in_a_callback", 4, RIGHT + "\ndef double(f):\n    import os\n    f(1)\n    os._exit(0)\n"),
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_each_earns_what_it_is_worth(kind: Kind, tmp_path: Path, session: Session) -> None:
    limits = "cpu_seconds = 2\nimport_seconds = 2\nmemory_mb = 256"
    assignment = tiny_assignment(tmp_path, CHECKS, points=6, reference=REFERENCE, limits=limits)
    grades = graded([kind], assignment, tmp_path, session)
    grade = grades[f"000_{kind.name}"]
    told = [(check.number, check.outcome, check.score, check.reason, check.staff[-300:]) for check in grade.checks]
    assert (grade.status, grade.points) == ("graded", kind.points), told
    assert not any("BREACH" in check.output for check in grade.checks)
    assert not remains(session)
