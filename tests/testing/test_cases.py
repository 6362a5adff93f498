"""Draws: fixed for the course, apart from one another, and of sizes that no exchanged axis survives."""

from __future__ import annotations

import pytest
import torch

from autograder.testing.cases import SIZES_OF_ATTENTION, Cases


def drawn(key: bytes = b"key", check: str = "part.test_x") -> list[torch.Tensor]:
    cases = Cases(key, check)
    return [cases.tensor(2, 3), cases.mask(4, 5), cases.permutation(7), cases.integers(3, low=0, high=1000)]


def test_the_same_key_and_check_draw_the_same() -> None:
    assert all(torch.equal(one, other) for one, other in zip(drawn(), drawn(), strict=True))


def test_another_key_or_another_check_draws_anew() -> None:
    for other in (drawn(key=b"other"), drawn(check="part.test_y")):
        assert not torch.equal(drawn()[0], other[0])
        assert not torch.equal(drawn()[3], other[3])


def test_draws_of_one_check_differ_from_one_another() -> None:
    cases = Cases(b"key", "part.test_x")
    assert not torch.equal(cases.tensor(5), cases.tensor(5))


def test_a_draw_does_not_depend_on_how_much_was_drawn_before_it() -> None:
    one, other = Cases(b"key", "check"), Cases(b"key", "check")
    one.tensor(3)
    other.tensor(3000)
    assert torch.equal(one.tensor(4), other.tensor(4))


def test_drawing_leaves_the_global_generator_alone() -> None:
    before = torch.get_rng_state()
    drawn()
    assert torch.equal(before, torch.get_rng_state())


def test_the_dtype_does_not_follow_the_default_of_a_submission() -> None:
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        cases = Cases(b"key", "check")
        assert cases.tensor(3).dtype == torch.float32
        assert cases.uniform(3, low=0.0, high=1.0).dtype == torch.float32
    finally:
        torch.set_default_dtype(default)
    assert torch.equal(Cases(b"key", "check").tensor(3), drawn_first())


def drawn_first() -> torch.Tensor:
    return Cases(b"key", "check").tensor(3)


def test_half_precision_is_the_rounded_draw() -> None:
    single = Cases(b"key", "check").tensor(50)
    half = Cases(b"key", "check").tensor(50, dtype=torch.bfloat16)
    assert torch.allclose(half.float(), single, rtol=2**-8)


@pytest.mark.parametrize("n", [2, 3, 5, 7])
def test_a_permutation_leaves_nothing_in_its_place_and_is_not_its_own_inverse(n: int) -> None:
    cases = Cases(b"key", "check")
    for _ in range(20):
        order = cases.permutation(n)
        assert sorted(order.tolist()) == list(range(n))
        assert bool((order != torch.arange(n)).all())
        assert n == 2 or bool((order[order] != torch.arange(n)).any())


def test_one_thing_has_no_other_order() -> None:
    with pytest.raises(ValueError, match="1 things have no order"):
        Cases(b"key", "check").permutation(1)


@pytest.mark.parametrize("shape", [(2,), (5, 7), (2, 3, 5, 7)])
def test_every_row_of_a_mask_has_a_true_and_a_false(shape: tuple[int, ...]) -> None:
    cases = Cases(b"key", "check")
    for _ in range(20):
        mask = cases.mask(*shape)
        assert mask.shape == shape and mask.dtype == torch.bool
        assert bool(mask.any(-1).all()) and not bool(mask.all(-1).any())


def test_cases_of_attention_fit_together_and_grow() -> None:
    sizes = [q.numel() + k.numel() + v.numel() for q, k, v in Cases(b"key", "check").attention()]
    assert len(sizes) == len(SIZES_OF_ATTENTION)
    assert sizes == sorted(sizes)
    for q, k, v in Cases(b"key", "check").attention():
        assert q.shape[:-2] == k.shape[:-2] == v.shape[:-2]
        assert q.shape[-1] == k.shape[-1] and k.shape[-2] == v.shape[-2]


def test_sizes_within_a_case_are_pairwise_different() -> None:
    for leading, *sizes in SIZES_OF_ATTENTION:
        n_q, n_k, d_k, d_v = sizes
        assert len({n_q, n_k, d_k, d_v}) == 4
        assert not {size for size in leading if size > 1} & set(sizes)


def test_cases_can_be_kept_to_few_axes_and_several_keys() -> None:
    for q, k, _ in Cases(b"key", "check").attention(most_axes=2, least_keys=2):
        assert q.dim() == 2 and k.shape[-2] >= 2
