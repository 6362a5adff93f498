"""Every change that the engine knows is made where it applies, and nowhere else; a mutant keeps its name."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from autograder.authoring.mutation.mutants import mutants_of, sample
from autograder.authoring.mutation.source_text import SourceText


def changes(body: str, kind: str, header: str = "import torch\nimport math\n\ndef f(x, n, m):\n") -> set[str]:
    """What lines become by one kind of change."""
    source = header + "".join(f"    {line}\n" for line in dedent(body).strip().splitlines())
    return {each.after for each in mutants_of("part", source) if each.change.kind == kind}


@pytest.mark.parametrize(
    ("line", "kind", "after"),
    [
        ("return x + n", "operator", {"return x - n"}),
        ("return x - n", "exchanged operands", {"return n - x"}),
        ("return x @ n", "exchanged operands", {"return n @ x"}),
        ("return (x + 1) / n", "dropped operand", {"return (x + 1)", "return (x) / n", "return (1) / n"}),
        ("return x < n", "comparison", {"return x <= n", "return x >= n"}),
        ("return x is None", "comparison", {"return x is not None"}),
        ("return x.y and n.y", "operator", {"return x.y or n.y"}),
        ("return -x", "sign", {"return x"}),
        ("return ~x & n", "sign", {"return x & n"}),
        ("return n ** 2", "off by one", {"return n ** 3", "return n ** 1"}),
        ("return x[..., 0::2]", "slice", {"return x[..., 0:]"}),
        ("return x[1:n]", "slice", {"return x[:n]", "return x[1:]"}),
        ("return x.sum(dim=-1)", "axis", {"return x.sum(dim=0)", "return x.sum(dim=-2)"}),
        ("return x.sum(dim=n)", "axis", {"return x.sum(dim=-1)"}),
        ("return torch.cumsum(x, 1)", "axis", {"return torch.cumsum(x, 2)", "return torch.cumsum(x, 0)"}),
        ("return x.shape[-1]", "axis", {"return x.shape[0]", "return x.shape[-2]"}),
        ("return x.amax(keepdim=True)", "constant", {"return x.amax(keepdim=False)"}),
        ("return x.sum(n, dtype=m)", "dropped argument", {"return x.sum(n)"}),
        ("return x.to(n, device=m)", "dropped argument", set()),
        ("return x.expand(n, m)", "exchanged arguments", {"return x.expand(m, n)"}),
        ("return x.transpose(n, m)", "exchanged arguments", set()),
        ("return x.detach() / math.sqrt(n)", "removed call", {"return x / math.sqrt(n)", "return x.detach() / n"}),
        ("return min(x, n)", "removed call", {"return x", "return n"}),
        ("return x.amax()", "function", {"return x.amin()"}),
        ("return x.y, n.y", "exchanged values", {"return n.y, x.y"}),
        ("return x if n else m", "exchanged branches", {"return m if n else x"}),
        ("a, b = x; return a.y", "variable", {"a, b = x; return b.y"}),
        ("return x['row'] + n['sym']", "text", {"return x['sym'] + n['sym']", "return x['row'] + n['row']"}),
    ],
)  # fmt: skip
def test_a_change_is_made_where_it_applies(line, kind, after):
    assert changes(line, kind) == after


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("if n:\n    raise ValueError(f'{n + 1}')\nreturn x", {"pass"}),
        ("x += n\nreturn x", {"pass"}),
        ("x = x.y\nreturn x", {"pass"}),
        ("a = x.y\nreturn a", set()),
        ("with torch.no_grad():\n    return x", {"if True:"}),
        ("for i in x:\n    continue\nreturn x", {"pass"}),
    ],
)
def test_a_statement_is_dropped_unless_a_name_would_have_no_value(body, after):
    assert changes(body, "dropped statement") == after


def test_parameters_of_one_type_are_mixed_up():
    header = "def f(n_q: int, n_k: int, x: Tensor):\n"
    assert changes("return g(n_q, x)", "variable", header) == {"return g(n_k, x)"}


REFERENCE = '''
"""A part: 1 + 1."""

import torch

LIMIT = 3 + 4


# BEGIN SOLUTION
def rows(x):
    """x + 1, as it is in words."""
    return x + 1  # one more + one


# END SOLUTION
def given(x):
    return x - 1


class Layer:
    def forward(self, x: "1 + 1"):
        # BEGIN SOLUTION
        y = x * 2
        y = x * 2
        return y
        # END SOLUTION
'''


def test_only_solutions_are_changed_and_no_words():
    found = mutants_of("part", REFERENCE)
    assert {each.where for each in found} == {"rows", "Layer.forward"}
    assert all("#" not in each.before + each.after and '"""' not in each.before for each in found)


def test_every_mutant_is_another_program_and_has_a_name_of_its_own():
    found = mutants_of("part", REFERENCE)
    programs = {ast.dump(ast.parse(SourceText(REFERENCE).replaced(each.change))) for each in found}
    assert len(programs) == len({each.identity for each in found}) == len(found) > 5
    assert ast.dump(ast.parse(REFERENCE)) not in programs
    assert {each.occurrence for each in found if each.after == "y = x / 2"} == {1, 2}


def test_code_that_moves_keeps_its_mutants():
    moved = REFERENCE.replace("LIMIT = 3 + 4", "# a comment\n\nLIMIT = 3 + 4")
    before, after = mutants_of("part", REFERENCE), mutants_of("part", moved)
    assert [each.identity for each in before] == [each.identity for each in after]
    assert [each.line + 2 for each in before] == [each.line for each in after]


def test_a_sample_is_the_same_each_time_and_loses_only_what_the_source_loses():
    every = mutants_of("part", REFERENCE)
    few = sample(every, 4, seed=1)
    assert len(few) == 4 and few == sample(list(reversed(every)), 4, seed=1)[::-1]
    without = [each for each in every if each is not few[0]]
    assert set(few[1:]) < set(sample(without, 4, seed=1))
    assert sample(every, 999, seed=1) == every
