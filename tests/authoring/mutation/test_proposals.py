"""A change becomes a file of the bank: laid over the reference, it does what the changed reference does."""

from __future__ import annotations

import ast

from autograder.assignment.bank import overlay
from autograder.authoring.mutation.mutants import mutants_of
from autograder.authoring.mutation.proposals import proposals_of
from autograder.authoring.mutation.source_text import SourceText

REFERENCE = '''
import functools


def twice(x):
    """Two times x."""
    # BEGIN SOLUTION
    # STARTER: return x
    return 2 * x
    # END SOLUTION


class Base:
    def __init__(self):
        self.start = 1


class Layer(Base):
    """A layer."""

    def __init__(self):
        # BEGIN SOLUTION
        super().__init__()
        self.start = self.start + 4
        # END SOLUTION

    @functools.lru_cache
    def forward(self, x):
        """Forward."""
        # BEGIN SOLUTION
        return twice(x) - self.start
        # END SOLUTION
'''


def proposals():
    return {each.name: each for each in proposals_of(REFERENCE, mutants_of("part", REFERENCE))}


def test_a_file_says_what_it_does_and_what_catches_it_without_words_and_marks_of_the_reference():
    found = proposals()["twice_divided_for_multiplied"]
    assert found.file(["1.2"]) == (
        '"""In `twice`, two values are divided where they should be multiplied."""\n\nCAUGHT_BY = ["1.2"]\n\n\n'
        "def twice(x):\n    return 2 / x\n"
    )


def test_a_method_is_replaced_by_deriving_unless_it_asks_for_its_parent():
    found = proposals()
    code = found["layer_forward_added_for_subtracted"].code
    method = "    @functools.lru_cache\n    def forward(self, x):\n        return twice(x) + self.start\n"
    assert code == f"class Layer(Layer):\n{method}"
    assert found["layer_init_subtracted_for_added"].code.startswith("class Layer(Base):\n\n    def __init__(self):")


def test_names_are_names_of_files_and_differ():
    found = proposals_of(REFERENCE, mutants_of("part", REFERENCE))
    assert len({each.name for each in found}) == len(found) > 8
    assert all(each.name.isidentifier() and each.name == each.name.lower() for each in found)


def run(source):
    names = {}
    exec(compile(source, "part", "exec"), names)
    try:
        return names["twice"](5), names["Layer"]().forward(7)
    except Exception as error:
        return type(error)


def test_laid_over_the_reference_it_does_what_the_changed_reference_does():
    for each in proposals_of(REFERENCE, mutants_of("part", REFERENCE)):
        ast.parse(each.code)
        laid_over = overlay(REFERENCE, each.file(["1.1"]))
        assert run(laid_over) == run(SourceText(REFERENCE).replaced(each.mutant.change)), each.name
