"""Kernels of torch that a part forbids are replaced by an error, once the part is loaded.

What a part forbids is looked for in what torch dispatches (`testing.operators`), but only where a check looks: a
function that does other work at the shapes that are looked at, or the forbidden work in a thread, is not seen there. A
kernel that is not there serves nobody. It is for good: only for a process of its own, never for the grader's.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import torch

LIBRARY_ATTENTION = (
    "scaled_dot_product_attention",
    "_scaled_dot_product_attention_math",
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_flash_attention_for_cpu_backward",
    "_native_multi_head_attention",
    "_transformer_encoder_layer_fwd",
)
_kept: list[Any] = []  # what is let go takes its kernels back


def refuse(forbidden: Sequence[str]) -> None:
    """From now on whatever is `forbidden` (names as in a manifest) raises a `RuntimeError` that says so.

    Operators of a submission's own making cannot be known before they are there: they are only looked for.
    """
    if "library attention" not in forbidden or _kept:
        return
    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch tells of each kernel that is replaced
        for name in LIBRARY_ATTENTION:
            with contextlib.suppress(RuntimeError):  # not every version of torch has each
                library.impl(name, _left_out, "CPU")
    _kept.append(library)


def _left_out(*_arguments: Any, **_named: Any) -> NoReturn:
    raise RuntimeError("library attention is left out here, since writing it is the exercise (see the handout)")
