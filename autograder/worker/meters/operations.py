"""What an operation costs: multiply-adds of matrix products, which the number of elements written does not show.

FlopCounterMode counts nothing for elementwise products; here the two are counted side by side (elements written are
`allocations`' business). Convolutions and library attention are not counted: they are kernels that a part forbids or
has no use for.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

COMPOSITE = frozenset(
    {"scaled_dot_product_attention", "multi_head_attention_forward", "flex_attention", "_scaled_dot_product_attention"}
)
"""Functions that torch may take apart before anything is dispatched, by their names."""

# The operand whose last axis is summed over.
_SUMMED: dict[str, int] = {
    "aten::mm": 0,
    "aten::bmm": 0,
    "aten::mv": 0,
    "aten::dot": 0,
    "aten::vdot": 0,
    "aten::addmm": 1,
    "aten::addmv": 1,
    "aten::baddbmm": 1,
    "aten::addbmm": 1,
    "aten::_addmm_activation": 1,
    "aten::addmm_": 1,
    "aten::baddbmm_": 1,
}


def summed_operand(func: Any) -> int | None:
    """Which argument's last axis a product sums over; None where `func` is no matrix product."""
    return _SUMMED.get(getattr(getattr(func, "_schema", None), "name", ""))


def multiply_adds(name: str, operand: int, args: Any, result: Any) -> int:
    """Multiply-adds of one matrix product that has been carried out."""
    if not isinstance(result, Tensor):
        return 0
    batch = args[1].shape[0] if name.startswith("aten.addbmm") else 1
    return batch * result.numel() * args[operand].shape[-1]
