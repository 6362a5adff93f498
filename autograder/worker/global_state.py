"""The global states that a function has no business to change, and which of them a call did change.

Seeding the generators stands here too, once, in the fork server. It restores nothing.
"""

from __future__ import annotations

import random
from typing import Any

import numpy.random  # loaded here, in the fork server: it takes 10 ms
import torch

SEED = 271_828_182  # unrelated to the seeds of any check


def seed_generators() -> None:
    """Give every generator of this process, and of those that it forks, the same constant state.

    (`torch.manual_seed` would take 2 ms.)
    """
    random.seed(SEED)
    numpy.random.seed(SEED)
    torch.default_generator.manual_seed(SEED)


def snapshot() -> dict[str, Any]:
    """The states by the names that `messages.Observed` gives them."""
    numpy_state: Any = numpy.random.get_state()
    return {
        "torch random state": torch.get_rng_state().numpy().tobytes(),
        "numpy random state": (numpy_state[1].tobytes(), *numpy_state[2:]),
        "python random state": random.getstate(),
        "default dtype": torch.get_default_dtype(),
        "grad mode": torch.is_grad_enabled(),
        "thread count": torch.get_num_threads(),
    }


def changes(before: dict[str, Any]) -> tuple[str, ...]:
    """The names of the states that are no longer as in `before`."""
    after = snapshot()
    return tuple(name for name, state in before.items() if after[name] != state)
