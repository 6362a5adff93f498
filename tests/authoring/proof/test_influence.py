"""Which functions a changed definition can reach, read off the source."""

from __future__ import annotations

import pytest

from autograder.authoring.proof.influence import reached_by_change, reached_by_entry, unaffected
from autograder.diagnosis.traces import CheckTrace, ItemTrace

REFERENCE = """
import math

SCALE = 2


def softmax(x):
    return x.exp()


def attention(q):
    return softmax(q) * SCALE


class Heads:
    def forward(self, x):
        return attention(x)


def mask(n):
    return math.inf * n


if __name__ == "__main__":
    print(attention(1))
"""


@pytest.mark.parametrize(
    ("entry", "reached"),
    [
        ("def softmax(x):\n    return x", {"softmax", "attention", "Heads"}),
        ("def attention(q):\n    return q", {"attention", "Heads"}),
        ("class Heads(Heads):\n    def forward(self, x):\n        return x", {"Heads"}),
        ("import math\n\ndef mask(n):\n    return n", {"mask"}),
        ("SCALE = 3", {"SCALE", "attention", "Heads"}),
        ("import numpy as math", {"math", "mask"}),
        ("def mask(n):\n    return helper(n)\n\ndef helper(n):\n    return softmax(n)", {"mask", "helper"}),
    ],
)
def test_a_definition_reaches_those_that_name_it(entry, reached):
    assert reached_by_entry(REFERENCE, f'"""A sentence."""\nCAUGHT_BY = ["1.1"]\n{entry}\n') == reached | {"CAUGHT_BY"}


@pytest.mark.parametrize(
    "entry",
    [
        "import torch\ntorch.manual_seed(0)",
        "import torch\ntorch.exp = torch.sin",
        "def mask(n=print()):\n    return n",
        "def spoil(f):\n    return f\n\n@spoil\ndef mask(n):\n    return n",
        "class Heads(Heads):\n    table = dict()",
        "def mask(n):\n    return globals()['softmax'](n)",
        "for SCALE in range(3):\n    pass",
    ],
)
def test_what_does_something_at_import_or_looks_names_up_by_text_may_reach_anything(entry):
    assert reached_by_entry(REFERENCE, entry) is None


def test_a_change_inside_a_function_reaches_what_runs_at_import(tmp_path):
    assert reached_by_change(REFERENCE, "mask") == {"mask"}
    assert reached_by_change(REFERENCE + "\nattention(1)\n", "mask") == {"mask"}
    assert reached_by_change(REFERENCE + "\nattention(1)\n", "softmax") is None


def test_a_check_is_unaffected_when_it_calls_nothing_that_is_reached_and_the_reference_passes_it():
    passed, failed = (ItemTrace(),), (ItemTrace(ending="mismatch"),)
    traces = [
        CheckTrace("1.1", passed, ("softmax",)),
        CheckTrace("1.2", passed, ("mask", "Heads.forward")),
        CheckTrace("1.3", failed, ("softmax",)),
        CheckTrace("1.4", passed, ()),
    ]
    assert unaffected(traces, {"Heads"}) == {"1.1"}
    assert unaffected(traces, None) == frozenset()
