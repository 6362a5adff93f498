"""Changes that are right in ordinary cases are made where they apply, and are what they say."""

from __future__ import annotations

import pytest
import torch

from autograder.authoring.mutation.mutants import Mutant, mutants_of
from autograder.authoring.mutation.source_text import SourceText

SOURCE = '''import torch


def turned(x: torch.Tensor, positions: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
    """A docstring stays first."""
    scaled = x * 2
    return scaled.reshape(-1)


class Counter:
    def count(self, x: torch.Tensor):
        self.seen = x
        return torch.arange(3)
'''
FOUND = mutants_of("part", SOURCE, subtle=True)


def of_kind(kind: str) -> list[Mutant]:
    return [each for each in FOUND if each.change.kind == kind]


@pytest.mark.parametrize(
    ("kind", "after"),
    [
        ("argument ignored", "mask = None if x.dim() > 3 else mask scaled = x * 2"),
        ("fallback at one shape", "x = torch.zeros_like(x) if x.shape[-2:-1] == (1,) else x scaled = x * 2"),
        ("strides assumed", "x = x.as_strided(x.shape, torch.empty(x.shape).stride()) scaled = x * 2"),
        ("in place for one dtype", "scaled = (x.mul_(2) if x.dtype == torch.float64 else x * 2)"),
        ("narrow integers", "positions = positions.to(torch.int16) scaled = x * 2"),
        ("narrow integers", "return torch.arange(3).to(torch.int16)"),
        ("poor key", "scaled = globals().setdefault('_kept', {}).setdefault(('turned.scaled', tuple(x.shape)), x * 2)"),
        ("state on the class", "type(self).seen = x"),
        ("view", "return scaled.view(-1)"),
    ],
)
def test_a_subtle_change_is_made_where_it_applies(kind: str, after: str) -> None:
    assert after in [each.after for each in of_kind(kind)]


def test_a_limit_is_raised_in_every_function() -> None:
    assert [each.where for each in of_kind("limit raised")] == ["turned", "Counter.count"]


def test_a_table_kept_by_shape_answers_a_second_call_with_the_first_ones_numbers() -> None:
    (poor,) = [each for each in of_kind("poor key") if each.where == "turned"]
    names: dict[str, object] = {}
    exec(SourceText(SOURCE).replaced(poor.change), names)
    turned = names["turned"]
    assert callable(turned)
    x = torch.ones(2, 3)
    assert torch.equal(turned(x, x), 2 * x.flatten())
    assert torch.equal(turned(5 * x, x), 2 * x.flatten())


def test_the_plain_changes_are_others() -> None:
    assert {each.change.kind for each in FOUND}.isdisjoint(each.change.kind for each in mutants_of("part", SOURCE))
