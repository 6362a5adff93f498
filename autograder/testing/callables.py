"""Functions of a check's that run beside student code, sent to it as source."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Any


class InWorker:
    """A function that is defined again where student code runs; called in a check, it is the function itself."""

    def __init__(self, function: Callable[..., Any], name: str, source: str) -> None:
        self._function, self.name, self.source = function, name, source

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)


def in_worker(function: Callable[..., Any]) -> InWorker:
    """Let student code be given `function`, which gradients flow through. It is sent as source.

    It sees `torch`, `math` and what it imports itself, and nothing else of its file. Student code can read it, so it
    must stand in `checks/support/`, which students have.

    Raises `ValueError` for a function that stands elsewhere.
    """
    if function.__module__.partition(".")[0] != "support":
        raise ValueError(
            f"{function.__qualname__} is sent to student code, which can read it: define it in checks/support/, "
            f"not in {function.__module__}."
        )
    return InWorker(function, function.__name__, textwrap.dedent(inspect.getsource(function)))
