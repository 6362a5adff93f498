"""One step of the notebook: a picture with its caption, or a sentence that says what has to be written first.

Nothing to write here. A function of yours that is not written yet raises NotImplementedError; `step` says which one it
is and where the handout asks for it, and the notebook goes on. Any other error of your code is shown as it is.
"""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import matplotlib.pyplot as plt
from IPython.display import Markdown, display

HERE = Path(__file__).resolve().parents[1]


class NotYet(Exception):
    """Something has to be done first; the message says what."""


@contextmanager
def step(caption: str) -> Iterator[None]:
    """Show what was drawn inside, with `caption` below it; or say what is missing for it.

    Use it as `with step("Figure 1. What is to be seen."):`.
    """
    plt.close("all")
    try:
        yield
    except NotImplementedError as error:
        plt.close("all")
        display(Markdown(not_yet(what_is_missing(error), caption)))
    except NotYet as error:
        plt.close("all")
        display(Markdown(not_yet(str(error), caption)))
    else:
        for number in plt.get_fignums():
            display(plt.figure(number))
        plt.close("all")
        display(Markdown(f"*{caption}*"))


def not_yet(why: str, caption: str) -> str:
    """What stands where the picture will. Of its caption the title only: the rest tells what is to be found out."""
    title = " ".join(re.split(r"(?<=[.?]) ", caption)[:2])
    return f"**Not yet.** {why}\n\nYou will then see: *{title}*"


def what_is_missing(error: NotImplementedError) -> str:
    """Which function of yours is not written yet, what it is for, and where the handout asks for it."""
    mine = [frame for frame, _ in traceback.walk_tb(error.__traceback__) if is_part(frame)]
    if not mine:
        return f"Something is not implemented: {error or 'NotImplementedError'}."
    code, owner = mine[-1].f_code, mine[-1].f_locals.get("self")
    names = [code.co_name] if owner is None else [type(owner).__name__, code.co_name]
    file = Path(code.co_filename).name
    said = purpose(mine[-1], owner)
    section = exercise(names)
    where = f" Exercise {section} of the handout asks for it." if section else ""
    name = ".".join(names).removesuffix(".__init__").removesuffix(".forward")
    return f"This needs `{name}` in `{file}`{said}{where} Write it, save the file, and run this cell again."


def is_part(frame: FrameType) -> bool:
    """Whether a frame runs one of the files that you complete."""
    return Path(frame.f_code.co_filename).resolve().parent == HERE


def purpose(frame: FrameType, owner: object) -> str:
    """The first sentence of the function's docstring, or of its class."""
    name = frame.f_code.co_name
    found = getattr(type(owner), name, None) if owner is not None else frame.f_globals.get(name)
    text = inspect.getdoc(found) or ""
    if name == "__init__":
        text = inspect.getdoc(type(owner)) or ""
    first = text.partition("\n")[0].strip()
    return f": *{first}*" if first else "."


def exercise(names: list[str]) -> str:
    """The number and the title of the exercise that asks for a function, from the headings of README.md."""
    handout = HERE / "README.md"
    if not handout.is_file():
        return ""
    text = handout.read_text(encoding="utf-8")
    pieces = re.split(r"^### (\d+\.\d+ .*)$", text, flags=re.MULTILINE)
    best, title = 0, ""
    for heading, body in zip(pieces[1::2], pieces[2::2], strict=True):
        found = sum(4 * (name in re.findall(r"\w+", heading)) + (f"`{name}(" in body) for name in names)
        if found > best:
            best, title = found, heading
    number, _, rest = title.partition(" ")
    return f"{number} ({re.sub(r' *[(].*', '', rest)})" if title else ""
