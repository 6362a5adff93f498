"""Hostile submissions, one `Kind` each: what they try, and the points that they are honestly worth.

The assignment that they are handed in for stands in `tests.hostile.assignment`. An attack that works prints BREACH, or
earns points that its code is not worth. `{hidden}`, `{checks}` and `{solutions}` in a source are replaced by the real
folders: the attacker knows them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

RIGHT = """
import torch
def double(x):
    return 2 * x
class Counter:
    def __init__(self, start):
        self.value = start
    def step(self, by=1):
        self.value += by
        return self.value
"""
WRONG = """
import torch
def double(x):
    return 3 * x + 1
class Counter:
    def __init__(self, start):
        self.value = start
    def step(self, by=1):
        return -1
"""
TRIED = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def tried(action, *arguments):
    try:
        result = action(*arguments)
    except BaseException:
        return
    print("BREACH", repr(result)[:200])
def syscall(number, *arguments):
    result = libc.syscall(ctypes.c_long(number), *(ctypes.c_ulong(each) for each in arguments))
    if result == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return result
def read(path):
    with open(path, "rb") as file:
        return file.read(64)
def write(path):
    with open(path, "wb") as file:
        return file.write(b"BREACH")
"""
ALL = 6.0


@dataclass(frozen=True)
class Kind:
    """One hostile submission: `points` is its honest worth; `files` lie beside its part.

    `as_user` is what it is worth as an ordinary user, `in_container` in a container, where that differs.
    `told` stands in what its student reads of the first check.
    """

    name: str
    points: float
    source: str
    files: dict[str, str] = field(default_factory=dict)
    waits: bool = False
    as_user: float | None = None
    in_container: float | None = None
    told: str = ""

    def under(self, profile: str) -> Kind:
        """As it is to be judged in that profile."""
        there = {"user": self.as_user, "container": self.in_container, "plain": self.in_container}.get(profile)
        return self if there is None else replace(self, points=there)


def attempts(*tries: tuple[str, str]) -> list[Kind]:
    """Right code that also tries something: full marks, and no BREACH."""
    return [Kind(name, ALL, RIGHT + TRIED + code + "\n") for name, code in tries]


def returns(*expressions: tuple[str, str]) -> list[Kind]:
    """Code whose every result is that expression, which is nowhere what was asked for."""
    body = "def double(x):\n    return {0}\nclass Counter:\n    def __init__(self, start):\n        pass\n"
    step = "    def step(self, by=1):\n        x = torch.ones(3)\n        return {0}\n"
    imports = "import collections, ctypes, datetime, decimal, enum, fractions, itertools, math, struct, numpy, torch\n"
    return [Kind(name, 0, imports + (body + step).format(expression)) for name, expression in expressions]
