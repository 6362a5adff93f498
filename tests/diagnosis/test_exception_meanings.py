"""What common exceptions mean: matched by what torch and Python really say."""

import bdb
from collections.abc import Callable

import pytest
import torch

from autograder.diagnosis.exception_meanings import is_out_of_memory, what_it_means
from autograder.results import ImportFailed, Raised


def raised_by(call: Callable[[], object]) -> Raised:
    """What `call` raises, as student code would."""
    with pytest.raises(BaseException) as caught:
        call()
    kinds = tuple(kind.__name__ for kind in type(caught.value).__mro__)
    return Raised(kinds=kinds, message=str(caught.value))


def backward_through_a_detached_tensor() -> None:
    torch.ones(3, requires_grad=True).detach().sum().backward()


def gradient_of_what_was_not_used() -> None:
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    torch.autograd.grad(y.sum(), x)


def in_place_on_a_leaf() -> None:
    x = torch.ones(3, requires_grad=True)
    x -= 1


def in_place_on_what_backward_needs() -> None:
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    y += 1
    y.sum().backward()


def call_itself() -> None:
    call_itself()


def leave_the_debugger() -> None:
    raise bdb.BdbQuit


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: torch.empty(1 << 60), "more memory"),
        (backward_through_a_detached_tensor, "graph of gradients is cut"),
        (gradient_of_what_was_not_used, "graph of gradients is cut"),
        (in_place_on_a_leaf, "in-place"),
        (in_place_on_what_backward_needs, "in-place"),
        (lambda: torch.zeros(3, dtype=torch.float16).masked_fill(torch.ones(3).bool(), -1e9), "half precision"),
        (lambda: torch.zeros(3).masked_fill(torch.ones(3).bool(), -1e300), "too large for the dtype of the tensor"),
        (lambda: torch.ones(2, 3) @ torch.ones(3, 2, dtype=torch.float64), "different dtypes"),
        (lambda: torch.ones(2, 3, 4).transpose(1, 2).view(2, 12), "reshape()"),
        (lambda: bool(torch.ones(3)), "is not None"),
        (lambda: torch.ones(3, device="mps"), "A GPU is asked for"),
        (lambda: compile("def f(:", "attention.py", "exec"), "it is newer than the one that checks here"),
        (lambda: torch.ones(0).max(), "largest or smallest of nothing"),
        (lambda: max([]), "largest or smallest of nothing"),
        (lambda: torch.ones(2, 3) + torch.ones(2, 1, 4), "axis of length 1"),
        (lambda: torch.ones(2, 3, 4) @ torch.ones(3, 4, 5), "axis of length 1"),
        (lambda: torch.ones(2).unfold(0, 5, 1), "as long as its window"),
        (lambda: torch.ones(6).reshape(4, -1), "sizes that do not divide"),
        (lambda: torch.ones(5).unflatten(0, (2, 2)), "sizes that do not divide"),
        (lambda: torch.outer(torch.ones(2, 2), torch.ones(2)), "count from the end"),
        (lambda: torch.ones(2, 3).permute(0, 2, 1), "count from the end"),
        (lambda: torch.ones(3).softmax(1), "no batch axis"),
        (lambda: None.shape, "mask=None"),
        (call_itself, "without an end"),
        (lambda: __import__("no_such_module"), "is not there"),
        (leave_the_debugger, "breakpoint() needs a terminal"),
        (lambda: exit(0), "return its result"),
    ],
)
def test_the_meaning_of_a_common_exception(call: Callable[[], object], words: str) -> None:
    raised = raised_by(call)
    assert words in what_it_means(raised), raised.message
    assert words in what_it_means(ImportFailed(part="attention", why=raised))


def test_an_exception_that_says_it_all_is_left_alone() -> None:
    assert what_it_means(Raised(kinds=("ValueError",), message="d must be even, not 5")) == ""


def test_a_subclass_counts_as_its_base() -> None:
    assert "without an end" in what_it_means(Raised(kinds=("Mine", "RecursionError"), message="too deep"))


def test_memory_that_ran_out_is_told_from_other_errors() -> None:
    assert is_out_of_memory(raised_by(lambda: torch.empty(1 << 60))) and is_out_of_memory(
        Raised(kinds=("MemoryError",))
    )
    assert not is_out_of_memory(Raised(kinds=("ValueError",), message="no")) and not is_out_of_memory(None)


@pytest.mark.parametrize(
    "message",
    ["Torch not compiled with CUDA enabled", "Found no NVIDIA driver on your system.", "No CUDA GPUs are available"],
)
def test_a_gpu_that_is_not_there_has_a_remedy(message: str) -> None:
    assert "device=x.device" in what_it_means(Raised(kinds=("AssertionError",), message=message))


def test_input_has_nobody_who_answers() -> None:
    raised = Raised(kinds=("EOFError", "Exception"), message="EOF when reading a line")
    assert "input() waits for somebody to type" in what_it_means(raised)
