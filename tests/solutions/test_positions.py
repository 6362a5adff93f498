"""The rounding bounds of part 3, on a tenth of what `python -m benchmarks.positions` tries; and odd input."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from autograder.assignment.assignment import load_assignment
from autograder.assignment.bank import BankEntry, bank
from benchmarks.positions import ASSIGNMENT, ROOM, Checks, at_extremes, caught, solution, used

part = solution()


@pytest.fixture(scope="module")
def checks() -> Iterator[Checks]:
    with Checks() as made:
        yield made


@pytest.fixture(scope="module")
def entries() -> list[BankEntry]:
    assignment = load_assignment(ASSIGNMENT)
    return bank(assignment, assignment.part("positions"))


def test_legal_formulas_stay_within_the_bounds_at_extremes() -> None:
    found = at_extremes(draws=30, seed=1)
    assert set(found) == {"sinusoidal_bound", "rope_bound"}
    assert all(0 < ratio <= ROOM for ratio, _ in found.values()), found


def test_legal_formulas_stay_within_the_bounds_of_every_check_whatever_it_draws(
    checks: Checks, entries: list[BankEntry]
) -> None:
    found = used(checks, entries, draws=10)
    assert set(found) == {item.number for item in checks.items}
    assert {number: each for number, each in found.items() if each[0] > ROOM} == {}


def test_every_mistake_is_beyond_the_bounds_of_the_checks_that_catch_it_whatever_they_draw(
    checks: Checks, entries: list[BankEntry]
) -> None:
    found = caught(checks, entries, draws=1)
    assert len(found) >= 19
    assert {number: each for number, each in found.items() if each[0] <= 1} == {}


def test_no_features_are_no_pairs_to_turn() -> None:
    positions = torch.tensor([0, -3, 10**6])
    assert part.sinusoidal(positions, 0).shape == (3, 0)
    assert part.rope(torch.zeros(2, 3, 0), positions).shape == (2, 3, 0)


@pytest.mark.parametrize("shape", [(0,), (2, 0), (1,), (1, 1)])
def test_no_position_and_one_have_codes_of_their_shape(shape: tuple[int, ...]) -> None:
    positions = torch.zeros(shape, dtype=torch.int64)
    assert part.sinusoidal(positions, 4).shape == part.LearnedPositions(1, 4)(positions).shape == (*shape, 4)
    assert part.rope(torch.ones(*shape, 4), positions).tolist() == torch.ones(*shape, 4).tolist()


def test_an_odd_width_and_an_unknown_position_are_told_in_a_sentence() -> None:
    for call in (lambda: part.sinusoidal(torch.arange(3), 5), lambda: part.rope(torch.zeros(3, 5), torch.arange(3))):
        with pytest.raises(ValueError, match="a position turns pairs of features, and 5 features are no pairs"):
            call()
    with pytest.raises(ValueError, match=r"position -1 was never learned: the table has rows 0 .. 5"):
        part.LearnedPositions(6, 2)(torch.tensor([[0, -1], [7, 2]]))


@pytest.mark.parametrize(("heads", "n_q", "n_k"), [(1, 0, 3), (2, 3, 0), (3, 1, 1)])
def test_alibi_serves_no_query_no_key_and_one(heads: int, n_q: int, n_k: int) -> None:
    assert part.alibi_bias(heads, n_q, n_k).shape == (heads, n_q, n_k)
    assert float(part.alibi_bias(heads, 1, 1).abs().max()) == 0
