"""A call that must raise the exception that the handout names.

Only the type counts, not the message. `NotImplementedError` never counts, since the starter raises it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.testing.mismatch import Mismatch, describe


def must_raise(kind: type[Exception], call: Callable[..., Any], *args: Any, because: str, **kwargs: Any) -> None:
    """`call(*args, **kwargs)` raises `kind` (or a subclass of it).

    Args:
        kind: what the handout states, such as ValueError.
        call: a function of the student's. What it raises is an instance of the builtin that was raised in the worker.
        because: why it must, completing "must raise ValueError: ...".

    Raises:
        Mismatch: when it returns, or raises something else. NotImplementedError is passed on.
    """
    try:
        value = call(*args, **kwargs)
    except NotImplementedError:
        raise
    except kind:
        return
    except Exception as error:
        kinds = [base.__name__ for base in type(error).__mro__ if base.__module__ == "builtins"]
        hint = f"{kinds[0]} is raised where {kind.__name__} is asked for"
        asked = f"{kind.__name__}, because {because}"
        raise Mismatch("error", asked, kinds[0], hint, theirs=f": {error}"[:200]) from None
    hint = f"nothing is raised where {kind.__name__} is asked for"
    raise Mismatch("error", f"{kind.__name__}, because {because}", f"no error but {describe(value)}", hint)
