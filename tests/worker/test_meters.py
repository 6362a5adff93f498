"""The allocation model: equal to torch's own accounts where those apply, and what it counts beside bytes."""

from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Callable, Generator
from typing import Any

import pytest
import torch
from torch.profiler import ProfilerActivity, profile

from autograder.worker.meters.measuring import measure
from autograder.worker.protocol.messages import Measure, Measured, Target, Unmeasured
from tests.worker.programs import (
    EFFICIENT,
    GROUPED,
    KEPT,
    MODULE,
    PARTS_FUNCTIONS,
    PROGRAMS,
    SOLUTIONS,
    TRAINABLE,
    TRAINABLE_PARTS,
    D,
    N,
    causal_step,
    checkpointed,
    chunked,
    flash,
    flash_of,
    grown_input,
    layered,
    multi_head,
    naive,
    soft,
    stacked,
    window,
)


def forget_gradients() -> None:
    """The modules' own, since a gradient of an earlier run would be added to and take no memory of its own."""
    for module in (MODULE, GROUPED):
        module.zero_grad()


def run(
    function: Callable[..., Any], *rest: Any, n: int = N, inputs: int = 3, grad: bool = False, fake: bool = False
) -> Measured:
    tensors = tuple((index, (1, 1, n, D), torch.float32) for index in range(inputs))
    message = Measure(Target("f"), (*[None] * inputs, *rest), tensors, grad=grad, fake=fake)
    forget_gradients()
    found = measure(function, message, str(SOLUTIONS))
    assert isinstance(found, Measured), found
    return found


@pytest.fixture(scope="module", autouse=True)
def _libraries_are_not_collected_each_time() -> Generator[None]:
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def by_profiler(function: Callable[..., Any], grad: bool) -> int:
    """Peak bytes above the start, from the events of torch's own allocator."""
    inputs = [torch.randn(1, 1, N, D, requires_grad=grad) for _ in range(3)]
    cotangent = torch.ones_like(function(*inputs)) if grad else None
    KEPT.clear()
    forget_gradients()
    gc.collect()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        result = function(*inputs)
        if grad:
            torch.autograd.backward(result, cotangent)
    live = peak = 0
    for event in seen.profiler.kineto_results.events():
        if event.name() == "[memory]":
            live += event.nbytes()
            peak = max(peak, live)
    del result
    KEPT.clear()
    return peak


@pytest.mark.parametrize("function", [*PARTS_FUNCTIONS, *PROGRAMS], ids=lambda function: function.__name__)
def test_peak_is_that_of_torchs_profiler(function: Callable[..., Any]) -> None:
    expected = by_profiler(function, grad=False)
    KEPT.clear()
    assert run(function).peak == pytest.approx(expected, rel=0.02, abs=256)  # scalars of arithmetic are 4 or 8 bytes


@pytest.mark.parametrize(
    "function", [*TRAINABLE_PARTS, *TRAINABLE, checkpointed], ids=lambda function: function.__name__
)
def test_peak_in_training_is_that_of_torchs_profiler(function: Callable[..., Any]) -> None:
    assert run(function, grad=True).peak == pytest.approx(by_profiler(function, grad=True), rel=0.02, abs=256)


def test_fake_tensors_give_the_same_peak_for_a_module_made_outside() -> None:
    assert run(multi_head, fake=True).peak == run(multi_head).peak


@pytest.mark.parametrize("grad", [False, True], ids=["forward", "training"])
@pytest.mark.parametrize("function", [*TRAINABLE_PARTS, *TRAINABLE], ids=lambda function: function.__name__)
def test_fake_tensors_give_the_same_peak_to_the_byte(function: Callable[..., Any], grad: bool) -> None:
    real, fake = run(function, grad=grad), run(function, grad=grad, fake=True)
    assert (fake.peak, fake.largest, fake.products) == (real.peak, real.largest, real.products)


@pytest.mark.parametrize("grad", [False, True], ids=["forward", "training"])
@pytest.mark.parametrize("function", [naive, soft, flash_of], ids=lambda function: function.__name__)
def test_on_another_device_the_peak_is_the_same(function: Callable[..., Any], grad: bool) -> None:
    rest = (20,) if function is flash_of else ()
    tensors = tuple((index, (1, 1, N, D), torch.float32) for index in range(3))
    found = measure(function, Measure(Target("f"), (*[None] * 3, *rest), tensors, grad=grad, device="meta"), "")
    assert isinstance(found, Measured)
    assert found.peak == run(function, *rest, grad=grad).peak


@pytest.mark.parametrize("function", [naive, soft, chunked, window, layered, stacked], ids=lambda f: f.__name__)
def test_peak_is_that_of_torchs_memory_tracker(function: Callable[..., Any]) -> None:
    assert by_memory_tracker(function, grad=False) == run(function, fake=True).peak == run(function).peak


@pytest.mark.parametrize("function", [naive, soft, flash, causal_step, layered], ids=lambda f: f.__name__)
def test_peak_in_training_is_that_of_torchs_memory_tracker(function: Callable[..., Any]) -> None:
    assert by_memory_tracker(function, grad=True) == run(function, grad=True).peak


def by_memory_tracker(function: Callable[..., Any], grad: bool) -> int:
    """Peak bytes above those of the inputs by torch's own tracker, on fake tensors."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.distributed._tools.mem_tracker import MemTracker

    with FakeTensorMode(), torch.set_grad_enabled(grad):
        inputs = [torch.randn(1, 1, N, D, requires_grad=grad) for _ in range(3)]
        before = [*inputs, torch.ones_like(function(*inputs))]
        tracker = MemTracker()
        tracker.track_external(*before)
        with tracker:
            result = function(*inputs)
            if grad:
                torch.autograd.grad(result, inputs, before[-1], allow_unused=True)
        [peak] = tracker.get_tracker_snapshot("peak").values()
    return peak["Total"] - sum(x.numel() * x.element_size() for x in before)


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


def test_places_and_values_of_sparse_tensors_count() -> None:
    assert run(lambda q, k, v: q * torch.ones(N, N).to_sparse()._nnz()).peak >= N * N * (4 + 2 * 8 + 4)


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


def test_what_takes_the_model_away_is_refused_while_it_looks() -> None:
    def hidden(q: Any, k: Any, v: Any) -> Any:
        with torch.utils._python_dispatch._disable_current_modes():
            return naive(q, k, v)

    assert hidden(*(torch.ones(1, 2, 3) for _ in range(3))).shape == (1, 2, 3)
    with pytest.raises(RuntimeError, match="memory is measured here"):
        run(hidden)


def test_a_value_comes_back_with_its_gradients_from_the_call_that_is_measured() -> None:
    q, k, v, cotangent = torch.randn(4, 5, 3).unbind()
    found = measure(naive, Measure(Target("f"), (q, k, v), cotangents=(cotangent,)), "")
    assert isinstance(found, Measured)
    inputs = [x.clone().requires_grad_() for x in (q, k, v)]
    assert found.value.equal(naive(*inputs))
    naive(*inputs).backward(cotangent)
    assert all(a.equal(b.grad) for a, b in zip(found.args, inputs, strict=True))


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
