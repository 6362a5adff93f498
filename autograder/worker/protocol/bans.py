"""How a manifest says what a part forbids, and how its refusal begins and ends: what both sides share of it."""

from __future__ import annotations

LIBRARY_ATTENTION = (
    "scaled_dot_product",
    "flash_attention",
    "efficient_attention",
    "cudnn_attention",
    "multi_head_attention",
    "transformer_encoder",
    "flex_attention",
)
"""What the names of operators of the group "library attention" hold."""
_NAME = r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*"
RULE = rf"^(library attention|custom operators|{_NAME}\.\w+|import {_NAME}( except {_NAME}(, ?{_NAME})*)?)$"
"""A group, a function or class by its whole name, or a module (import torch.nn except torch.nn.Module)."""
LEFT_OUT = "is left out in this part, since writing it is the exercise (see the handout)"
"""The end of every refusal, by which the grader knows one."""
