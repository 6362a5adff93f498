"""The GPU's meter, held against a simulated card: blocks, workspaces, other users, and a card that is full."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from autograder.testing.memory import growth, second_difference
from autograder.worker.meters.card import CardRun, run_on_card
from benchmarks.simulated_card import MIB, SimulatedCard

PER_CALL = {"workspace": 33 * MIB, "workspaces": "per call"}


def chunked(n: int) -> Callable[[], object]:
    """Sums of scores, 64 queries and keys at a time: no more than 64 x 64 of them at once."""

    def call() -> object:
        x = torch.ones(n, 32)
        return sum((a @ b.T).sum() for a in x.split(64) for b in x.split(64))

    return call


def naive(n: int) -> Callable[[], object]:
    def call() -> object:
        x = torch.ones(n, 32)
        return (x @ x.T).sum()

    return call


def test_what_a_tensor_asked_for_what_it_got_and_what_the_driver_gave() -> None:
    with SimulatedCard() as card:
        run = run_on_card(lambda: torch.zeros(100), 100, "cpu")
        assert (run.n, run.requested, run.allocated, run.reserved, run.driver) == (100, 400, 512, 2 * MIB, 2 * MIB)
        large = run_on_card(lambda: torch.zeros(3 * MIB // 4 + 1), 1, "cpu")
        assert (large.requested, large.allocated, large.reserved) == (3 * MIB + 4, 3 * MIB + 512, 20 * MIB)
        whole = run_on_card(lambda: torch.zeros(19 * MIB // 4 + MIB // 8), 1, "cpu")  # 0.5 MiB would be left: no split
        assert (whole.requested, whole.allocated) == (int(19.5 * MIB), 20 * MIB)
        assert card.now()["requested"] == 0 and run.seconds > 0


def test_what_was_there_before_is_not_counted_and_what_is_freed_is_used_again() -> None:
    with SimulatedCard():
        before = torch.zeros(MIB)
        run = run_on_card(lambda: torch.add(*(torch.zeros(MIB // 2) for _ in range(2))), 1, "cpu")
        assert run.requested == 3 * 2 * MIB and before.numel() == MIB
        in_turn = run_on_card(lambda: [torch.zeros(MIB // 2).sum() for _ in range(5)], 1, "cpu")
        assert 2 * MIB <= in_turn.requested < 2 * MIB + 100


@pytest.mark.parametrize("workspaces", [{}, PER_CALL], ids=["kept", "per call"])
def test_a_workspace_is_a_constant_that_the_verdict_does_not_see(workspaces: dict[str, object]) -> None:
    found: dict[int, CardRun] = {}

    def measure(form: Callable[[int], Callable[[], object]]) -> Callable[[object], list[CardRun]]:
        return lambda lengths: [found.setdefault(n, run_on_card(form(n), n, "cpu")) for n in lengths]

    with SimulatedCard(**workspaces):  # pyright: ignore[reportArgumentType]
        linear = growth(measure(chunked), 32, lambda run: run.requested)
        constant = linear.points[0].requested - 512 * linear.points[0].n  # pyright: ignore[reportAttributeAccessIssue]
        found.clear()
        square = growth(measure(naive), 32, lambda run: run.requested)
    assert linear.is_linear and (constant > 32 * MIB) == bool(workspaces)
    assert not square.is_linear and square.bytes_a_pair == pytest.approx(4.0, abs=1e-3)


def test_by_blocks_alone_a_line_would_bend() -> None:
    """Why the verdict looks at what was requested: blocks grow in steps of up to 1 MiB."""
    lengths = [30_000, 33_000, 36_000]
    with SimulatedCard():
        runs = [run_on_card(lambda n=n: torch.zeros(n, 100) + 1, n, "cpu") for n in lengths]
    assert second_difference(lengths, [run.requested for run in runs]) == 0
    assert abs(second_difference(lengths, [run.allocated for run in runs])) > 0


def test_other_users_of_the_card_change_what_the_driver_says_and_nothing_else() -> None:
    with SimulatedCard() as card:
        alone = run_on_card(lambda: torch.zeros(MIB), 1, "cpu")

        def beside() -> object:
            card.others += 100 * MIB
            return torch.zeros(MIB)

        shared = run_on_card(beside, 1, "cpu")
    assert shared.requested == alone.requested and shared.reserved == alone.reserved
    assert shared.driver == alone.driver + 100 * MIB


def test_a_card_that_is_full_says_so_after_its_cache_was_given_back() -> None:
    with SimulatedCard(capacity=64 * MIB, others=20 * MIB):
        run_on_card(lambda: [torch.zeros(9 * MIB // 4).sum() for _ in range(9)], 1, "cpu")
        run_on_card(lambda: torch.zeros(40 * MIB // 4), 1, "cpu")  # fits once the segments before are given back
        with pytest.raises(torch.cuda.OutOfMemoryError, match="out of memory"):
            run_on_card(lambda: torch.zeros(45 * MIB // 4), 1, "cpu")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_raises() -> None:
    with pytest.raises((RuntimeError, AssertionError)):
        run_on_card(lambda: None, 1)
