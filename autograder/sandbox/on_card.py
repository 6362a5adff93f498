"""A process that sees the GPU and measures functions on it, with the rights of whoever starts it.

It is for one's own machine. Grades come from workers, which see no GPU.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from autograder.errors import SoftmarkError
from autograder.worker.meters.card import CardRun, run_on_card


@dataclass(frozen=True)
class Form:
    """One way to compute something: function `function` of module `module` in `folder`.

    `parameters` are the names of what it is called with: q, k, v are tensors (1, 1, n, `width`) of float32, all others
    are the number `chunk`. With `training` the gradients of q, k and v are computed, too.
    """

    folder: str
    module: str
    function: str
    parameters: tuple[str, ...]
    training: bool
    width: int
    chunk: int
    device: str = "cuda"


class OnCard:
    """The process. Use as a context manager."""

    def __init__(self) -> None:
        self._pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))

    def runs(self, form: Form, lengths: Sequence[int]) -> list[CardRun]:
        """A run for each length, up to the first for which the card's memory does not suffice.

        Raises:
            SoftmarkError: with what the code raised, or where the process died.
        """
        found: list[CardRun] = []
        for n in lengths:
            try:
                run = self._pool.submit(_run, form, n).result()
            except BrokenProcessPool:
                raise SoftmarkError(
                    f"{form.function} ended the process that measured it at n = {n:,}.", exit_code=1
                ) from None
            except Exception as error:
                said = f"{type(error).__name__}: {str(error)[:300]}"
                raise SoftmarkError(f"{form.function} failed on the GPU at n = {n:,}: {said}.", exit_code=1) from None
            if run is None:
                break
            found.append(run)
        return found

    def __enter__(self) -> OnCard:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)


def _run(form: Form, n: int) -> CardRun | None:
    """In the process: one run; None where the card has no memory left for it."""
    import torch

    try:
        return run_on_card(prepared(load_function(form.folder, form.module, form.function), form, n), n, form.device)
    except torch.cuda.OutOfMemoryError:
        torch.cuda.empty_cache()
        return None


@cache
def load_function(folder: str, module: str, function: str) -> Callable[..., Any]:
    """A function of a file, imported once."""
    from autograder.worker.loader import Loader

    parts = sorted(file.stem for file in Path(folder).glob("*.py"))
    return getattr(Loader(Path(folder), parts).load(module), function)


def prepared(function: Callable[..., Any], form: Form, n: int) -> Callable[[], object]:
    """A call of `function` at length n, with its backward pass where that is asked for, on tensors made here."""
    import torch

    tensors = {
        name: torch.randn(1, 1, n, form.width, device=form.device, requires_grad=form.training)
        for name in form.parameters
        if name in ("q", "k", "v")
    }
    args = [tensors.get(name, form.chunk) for name in form.parameters]
    cotangent = torch.ones(1, 1, n, form.width, device=form.device)

    def call() -> object:
        with torch.set_grad_enabled(form.training):
            result = function(*args)
            return torch.autograd.grad(result, list(tensors.values()), cotangent) if form.training else result

    return call
