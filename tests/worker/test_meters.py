"""The allocation model: equal to torch's own accounts where those apply, and what it counts beside bytes."""

from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile
from torch.utils.checkpoint import checkpoint

from autograder.worker.loader import Loader
from autograder.worker.messages import Measure, Measured, Target, Unmeasured
from autograder.worker.meters.measuring import measure

SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions" / "08_transformers"
PARTS = Loader(SOLUTIONS, ["attention", "efficient"])
ATTENTION, EFFICIENT = PARTS.load("attention"), PARTS.load("efficient")
N, D = 96, 16

KEPT: list[Tensor] = []


def run(
    function: Callable[..., Any], *rest: Any, n: int = N, inputs: int = 3, grad: bool = False, fake: bool = False
) -> Measured:
    tensors = tuple((index, (1, 1, n, D), torch.float32) for index in range(inputs))
    message = Measure(Target("f"), (*[None] * inputs, *rest), tensors, grad=grad, fake=fake)
    found = measure(function, message, str(SOLUTIONS))
    assert isinstance(found, Measured), found
    return found


def naive(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), -1) @ v


def views(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q.transpose(-2, -1).reshape(-1) + k.flatten()).view_as(v)[..., ::2, :].clone()


def in_place(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q + k).mul_(v).exp_().add_(1.0)


def out_argument(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.mul(q, k, out=torch.empty_like(v))


def resized(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    x = torch.empty(0)
    x.resize_(4000)
    x.untyped_storage().resize_(32_000)
    return q + k


def grown_input(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    q.untyped_storage().resize_(64_000)
    return k + v


def kept_in_a_global(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    KEPT.append(q @ k.transpose(-2, -1))
    return KEPT[-1] @ v


def reference_cycle(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    cycle: list[Any] = [q + k]
    cycle.append(cycle)
    return v * 2


def data_replaced(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    x = q + k
    x.data = torch.cat((x, v), dim=-1)
    return x


def looped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return sum((q[..., i : i + 8, :] * k[..., i : i + 8, :] for i in range(0, q.shape[-2], 8)), torch.zeros(8, D))


def masked(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = torch.einsum("...id,...jd->...ij", q, k)
    return scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -math.inf).softmax(-1) @ v


def half(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q.half() + k.half()).float().double().sum(-1)


def summed_up(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return q.flatten().view(1, -1).expand(3, -1).cumsum(-1).flip(-1)


def gathered(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return q[..., torch.arange(0, q.shape[-2], 3), :] - torch.where(k > 0, k, v)[..., ::3, :]


def layered(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.layer_norm(torch.relu(q @ torch.eye(D)), (D,)) + torch.nn.functional.gelu(k) * torch.sigmoid(v)


def checkpointed(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    out = checkpoint(naive, q, k, v, use_reentrant=False, preserve_rng_state=False)
    assert isinstance(out, Tensor)
    return out


def mapped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.vmap(lambda a, b: (a * b).sum(-1))(q[0, 0], k[0, 0])


def multi_head(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return MODULE(q[0])[0]


def causal_step(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return ATTENTION.scaled_dot_product_attention(q, k, v, ATTENTION.causal_mask(q.shape[-2], k.shape[-2]))[0]


def padded(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    mask = ATTENTION.padding_mask(torch.tensor([k.shape[-2] // 2]), k.shape[-2])
    return ATTENTION.scaled_dot_product_attention(q, k, v, mask)[0]


def soft(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return ATTENTION.softmax(q * k, -1)


def with_loops(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return ATTENTION.attention_with_loops(q[0, 0, :6], k[0, 0, :7], v[0, 0, :7])


def chunked(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return EFFICIENT.chunked_attention(q, k, v, 20, True)


def flash(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return EFFICIENT.flash_attention(q, k, v, 20, True)


def window(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return EFFICIENT.sliding_window_attention(q, k, v, 9)


MODULE: nn.Module = ATTENTION.MultiHeadAttention(D, 4)

PROGRAMS = [
    naive, views, in_place, out_argument, resized, kept_in_a_global, reference_cycle, data_replaced, looped,
    masked, half, summed_up, gathered, layered, mapped, multi_head, causal_step, padded, soft, with_loops, chunked,
    flash, window,
]  # fmt: skip
TRAINABLE = [naive, views, masked, layered, checkpointed, multi_head, soft, with_loops, flash, window]
ADDED_UP = [looped, chunked]  # gradients of slices are added up, by autograd itself


def by_profiler(function: Callable[..., Any], grad: bool) -> int:
    """Peak bytes above the start, from the events of torch's own allocator."""
    inputs = [torch.randn(1, 1, N, D, requires_grad=grad) for _ in range(3)]
    cotangent = torch.ones_like(function(*inputs)) if grad else None
    KEPT.clear()
    gc.collect()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen, torch.set_grad_enabled(grad):
        result = function(*inputs)
        if grad:
            torch.autograd.grad(result, inputs, cotangent, allow_unused=True)
    live = peak = 0
    for event in seen.profiler.kineto_results.events():
        if event.name() == "[memory]":
            live += event.nbytes()
            peak = max(peak, live)
    del result
    KEPT.clear()
    return peak


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_peak_is_that_of_torchs_profiler(function: Callable[..., Any]) -> None:
    expected = by_profiler(function, grad=False)
    KEPT.clear()
    assert run(function).peak == pytest.approx(expected, rel=0.02, abs=256)  # scalars of arithmetic are 4 or 8 bytes


@pytest.mark.parametrize("function", TRAINABLE, ids=lambda function: function.__name__)
def test_peak_in_training_is_that_of_torchs_profiler(function: Callable[..., Any]) -> None:
    assert run(function, grad=True).peak == pytest.approx(by_profiler(function, grad=True), rel=0.02, abs=256)


@pytest.mark.parametrize("function", ADDED_UP, ids=lambda function: function.__name__)
def test_gradients_that_autograd_adds_up_count_once_more_at_most(function: Callable[..., Any]) -> None:
    """A storage that is watched is shared, so autograd makes a new sum where it would add in place."""
    expected = by_profiler(function, grad=True)
    assert expected <= run(function, grad=True).peak <= expected + N * D * 4


def test_fake_tensors_give_the_same_peak_for_a_module_made_outside() -> None:
    assert run(multi_head, fake=True).peak == run(multi_head).peak


@pytest.mark.parametrize("grad", [False, True], ids=["forward", "training"])
@pytest.mark.parametrize(
    "function", [f for f in TRAINABLE if f is not multi_head], ids=lambda function: function.__name__
)
def test_fake_tensors_give_the_same_peak_to_the_byte(function: Callable[..., Any], grad: bool) -> None:
    real, fake = run(function, grad=grad), run(function, grad=grad, fake=True)
    assert (fake.peak, fake.largest, fake.products) == (real.peak, real.largest, real.products)


@pytest.mark.parametrize("function", [naive, chunked, window, layered], ids=lambda function: function.__name__)
def test_peak_is_that_of_torchs_memory_tracker(function: Callable[..., Any]) -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.distributed._tools.mem_tracker import MemTracker

    with FakeTensorMode(), torch.no_grad():
        inputs = [torch.randn(1, 1, N, D) for _ in range(3)]
        tracker = MemTracker()
        tracker.track_external(*inputs)
        with tracker:
            function(*inputs)
        [peak] = tracker.get_tracker_snapshot("peak").values()
    assert peak["Total"] - sum(x.numel() * 4 for x in inputs) == run(function).peak


def test_naive_attention_holds_two_squares_and_grows_with_power_two() -> None:
    peaks = [run(naive, n=n).peak for n in (512, 1024, 2048)]
    assert math.log2(peaks[2] / peaks[1]) == pytest.approx(2.0, abs=0.02)
    assert run(naive, n=512).largest == 512 * 512 * 4


@pytest.mark.parametrize("grad", [False, True], ids=["forward", "training"])
def test_the_reference_grows_with_power_one(grad: bool) -> None:
    peaks = [run(EFFICIENT.flash_attention, 64, n=n, grad=grad).peak for n in (512, 1024)]
    assert math.log2(peaks[1] / peaks[0]) <= 1.15


def test_what_backward_needs_is_alive_after_the_forward_pass() -> None:
    kept = {name: run(f, 24, grad=True).kept for name, f in (("c", EFFICIENT.chunked_attention), ("f", flash_of))}
    assert kept["c"] > N * N * 4 > kept["f"]


def flash_of(q: Tensor, k: Tensor, v: Tensor, chunk: int) -> Tensor:
    return EFFICIENT.flash_attention(q, k, v, chunk)


def test_growth_of_an_inputs_storage_counts() -> None:
    assert run(grown_input).peak >= 64_000 - N * D * 4


def test_the_line_that_made_the_largest_tensor_is_named() -> None:
    assert run(EFFICIENT.chunked_attention, N).largest_where.startswith("efficient.py, line ")


def test_multiply_adds_and_elements_are_counted_side_by_side() -> None:
    products = run(lambda q, k, v: q @ k.transpose(-2, -1))
    elementwise = run(lambda q, k, v: (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1))
    assert products.products == elementwise.elements - N * N == N * N * D


def test_an_opaque_operator_is_seen_by_its_name() -> None:
    library = torch.library.Library("softmark_test", "DEF")
    library.define("hidden(Tensor q) -> Tensor")
    library.impl("hidden", lambda q: naive(q, q, q), "CPU")
    assert "softmark_test.hidden.default" in run(lambda q, k, v: torch.ops.softmark_test.hidden(q)).operators


@pytest.mark.parametrize("axes", [2, 4])
def test_library_attention_is_seen_however_it_is_taken_apart(axes: int) -> None:
    attention = getattr(torch.nn.functional, "scaled_dot" + "_product_attention")
    found = run(lambda q, k, v: attention(*(x.reshape(x.shape[-axes:]) for x in (q, k, v))))
    assert any("scaled_dot_product" in name for name in found.operators)


def test_what_does_not_run_on_fake_tensors_is_no_fault() -> None:
    message = Measure(Target("f"), (None,), ((0, (3,), torch.float32),), fake=True)
    assert isinstance(measure(lambda x: x.numpy(), message, ""), Unmeasured)


def test_a_budget_of_operations_ends_a_fake_run() -> None:
    message = Measure(Target("f"), (None,), ((0, (3,), torch.float32),), fake=True, most_operations=5)
    assert isinstance(measure(lambda x: [x + 1 for _ in range(10)], message, ""), Unmeasured)


def test_nothing_of_the_meter_is_left_behind() -> None:
    before = torch.UntypedStorage.resize_
    with pytest.raises(ZeroDivisionError):
        run(lambda q, k, v: 1 / 0)
    assert torch.UntypedStorage.resize_ is before
    tensor = torch.ones(2)
    gone = weakref.ref(tensor)
    del tensor
    assert gone() is None
