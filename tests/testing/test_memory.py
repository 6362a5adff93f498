"""Judging growth: second divided differences, which of two triples counts, and what is said."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from autograder.testing.memory import (
    assert_bytes_a_token,
    assert_largest_tensor,
    assert_linear_memory,
    assert_linear_operations,
    assert_seen,
    exponents,
    growth,
    second_difference,
    table,
    weigh,
)
from autograder.testing.mismatch import Mismatch
from autograder.testing.operators import assert_own_work


@dataclass
class Run:
    n: int
    peak: int
    kept: int = 0
    largest: int = 0
    largest_where: str = "efficient.py, line 12: scores = q @ k.T"
    elements: int = 0
    products: int = 0
    operators: Sequence[str] = ("aten.mm.default",)


@dataclass
class Scale:
    growth: int | None
    written: int = 0
    processes: bool = False


class Weighing:
    def __init__(self, scale: Scale) -> None:
        self.scale = scale

    @contextmanager
    def weighing(self) -> Generator[Scale]:
        yield self.scale


def measuring(peak: Callable[[int], float], kept: Callable[[int], float] = lambda n: 0) -> Callable[..., list[Run]]:
    return lambda lengths: [Run(n, int(peak(n)), int(kept(n))) for n in lengths]


def test_a_line_has_second_difference_0_and_a_square_its_coefficient() -> None:
    n = (512, 768, 1024)
    assert second_difference(n, [1e6 + 40 * x for x in n]) == 0
    assert second_difference(n, [1e6 + 40 * x + 8 * x * x for x in n]) == pytest.approx(8)


def test_a_peak_that_moves_between_phases_bends_one_triple_only() -> None:
    assert growth(measuring(lambda n: max(400 * n, 2000 * n - 1_200_000)), 64).bytes_a_pair == 0


def test_a_straight_first_triple_needs_no_second() -> None:
    assert [run.n for run in growth(measuring(lambda n: 5 * n), 64).points] == [512, 768, 1024]


@pytest.mark.parametrize("power", [1.5, 2])
def test_a_small_factor_hides_no_square(power: float) -> None:
    grown = growth(measuring(lambda n: 300 * n + 0.1 * n**2 if power == 2 else 300 * n + 2 * n**power), 64)
    assert 0.01 < grown.bytes_a_pair < 0.5
    assert not grown.is_linear
    assert len(grown.points) == 7


@pytest.mark.parametrize(
    "peak",
    [
        lambda n: 256 * n * math.log2(n),  # halves of the keys, each with numbers for all queries
        lambda n: 4 * n + 900 * math.sqrt(n),
        lambda n: max(400 * n, 420 * n - 14_000),  # a phase overtakes another at 700
        lambda n: max(400 * n, 420 * n - 14_000, 460 * n - 70_000),  # and a third at 1,400
        lambda n: 256 * n + 16_384 * math.ceil(math.log2(n / 64)),  # a tree of merges
    ],
)
def test_what_grows_more_slowly_than_a_power_is_linear(peak: Callable[[int], float]) -> None:
    assert growth(measuring(peak), 64).is_linear


@pytest.mark.parametrize("bytes_a_pair", [1, 2, 4, 8])
def test_a_square_is_told_with_its_bytes_its_line_and_its_table(bytes_a_pair: int) -> None:
    with pytest.raises(Mismatch) as told:
        assert_linear_memory(measuring(lambda n: 9999 + 300 * n + bytes_a_pair * n * n), 64, "f")
    assert f"{bytes_a_pair}.0 bytes a pair" in told.value.got
    assert "2,048" in told.value.got
    assert "line 12" in told.value.theirs


def test_what_plain_autograd_keeps_is_explained_in_training() -> None:
    with pytest.raises(Mismatch, match="recompute them there"):
        assert_linear_memory(measuring(lambda n: 4 * n * n, lambda n: 4 * n * n), 64, "f", training=True)


def test_exponents_are_1_for_a_line_and_2_for_a_square() -> None:
    assert exponents([1, 2, 4], [3, 6, 24]) == pytest.approx([1.0, 2.0])
    assert "2.00" in table([Run(1024, 1 << 20), Run(2048, 1 << 22)])


def test_work_that_grows_with_a_square_fails_and_linear_work_does_not() -> None:
    linear = lambda lengths: [Run(n, 0, elements=90 * n, products=n) for n in lengths]  # noqa: E731
    square = lambda lengths: [Run(n, 0, elements=n, products=n * n) for n in lengths]  # noqa: E731
    assert_linear_operations(linear, (1024, 2048), "f")
    mostly_linear = lambda lengths: [Run(n, 0, elements=9000 * n + n * n) for n in lengths]  # noqa: E731
    with pytest.raises(Mismatch, match="outside the window"):
        assert_linear_operations(square, (1024, 2048), "f")
    assert_linear_operations(mostly_linear, (1024, 2048), "f")
    with pytest.raises(Mismatch, match="outside the window"):
        assert_linear_operations(mostly_linear, (512, 1024, 2048), "f")


def test_caps_on_one_tensor_on_bytes_a_token_and_on_what_was_seen() -> None:
    run = Run(100, 5000, largest=3000, elements=10)
    assert_largest_tensor(run, 3000, "f")
    assert_bytes_a_token(run, 50, "f")
    assert_seen(run, 10, "f")
    for failing in (
        lambda: assert_largest_tensor(run, 2999, "f"),
        lambda: assert_bytes_a_token(run, 49, "f"),
        lambda: assert_seen(run, 11, "f"),
    ):
        with pytest.raises(Mismatch):
            failing()


@pytest.mark.parametrize("scale", [Scale(9 << 20), Scale(4 << 20, written=5 << 20), Scale(0, processes=True)])
def test_growth_files_and_processes_are_held_against_the_limit(scale: Scale) -> None:
    with pytest.raises(Mismatch):
        weigh(Weighing(scale), lambda: 3, 8, "f")


def test_without_an_account_the_value_comes_back() -> None:
    assert weigh(Weighing(Scale(None)), lambda: 3, 8, "f") == 3


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory")])
def test_memory_that_runs_out_is_a_finding_and_no_crash(error: Exception) -> None:
    def fails() -> None:
        raise error

    with pytest.raises(Mismatch, match="an allocation failed"):
        weigh(Weighing(Scale(None)), fails, 8, "f")


@pytest.mark.parametrize(
    ("operator", "forbids"),
    [
        ("aten._scaled_dot_product_flash_attention_for_cpu.default", "library attention"),
        ("called.scaled_dot_product_attention", "library attention"),
        ("aten._native_multi_head_attention.default", "library attention"),
        ("flex_attention", "library attention"),
        ("mine.fast_scores.default", "custom operators"),
    ],
)
def test_what_a_part_forbids_is_a_sentence_that_names_it(operator: str, forbids: str) -> None:
    run = Run(5, 0, operators=("aten.bmm.default", operator))
    with pytest.raises(Mismatch, match=operator.removeprefix("called.")):
        assert_own_work(run, [forbids], "f")
    assert_own_work(run, [], "f")
