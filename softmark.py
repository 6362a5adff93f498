"""Softmark in a notebook: `%load_ext softmark`, then `%check 2.3`, or `check("attention")`.

It checks the functions as they stand in the notebook: what cells have defined so far, on top of the files beside it.
"""

from __future__ import annotations

from autograder.commands.notebook import check, load_ipython_extension

__all__ = ["check", "load_ipython_extension"]
