"""An exception of student code as a message: its kinds, its text, and the student's own frames.

Nothing of ours appears in it, and everything is bounded. Telling the student's fault from the check's is not done here.
"""

from __future__ import annotations

import builtins
import dis
import linecache
import os
import sys
import traceback
from types import CodeType

from .protocol.messages import Raised

MAX_MESSAGE = 2000
MAX_FRAMES = 10
MAX_LINE = 200
# What Python does before it raises, in the versions from 3.10 on.
_OF_A_STUB = (
    *("RESUME", "NOP", "CACHE", "PUSH_NULL", "LOAD_CONST", "PRECALL", "CALL", "CALL_FUNCTION", "KW_NAMES"),
    *("RETURN_GENERATOR", "GEN_START", "POP_TOP", "COPY_FREE_VARS", "MAKE_CELL", "BUILD_STRING", "FORMAT_VALUE"),
)


def raised(error: BaseException, folder: str) -> Raised:
    """What `error`, raised by code in `folder`, is for the grader."""
    kinds = tuple(_encodable(_kind(kind)) for kind in type.mro(type(error)))[:20]
    message, frames = _encodable(_message(error)[:MAX_MESSAGE]), _encodable(_frames(error, folder))
    return Raised(kinds, message, frames, stub=_is_of_a_stub(error, folder))


def is_theirs(file: str, folder: str) -> bool:
    """Whether a file is of the code in `folder`, and not of the virtual environment that may lie in there."""
    environment = sys.prefix + os.sep
    libraries = environment if environment.startswith(folder + os.sep) else None
    return file.startswith(folder + os.sep) and not (libraries is not None and file.startswith(libraries))


def _is_of_a_stub(error: BaseException, folder: str) -> bool:
    """Whether a function of the student's does nothing but raise it: `raise NotImplementedError` and no more."""
    if type(error) is not NotImplementedError:
        return False
    codes = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    if not codes or not is_theirs(codes[-1].co_filename, folder):
        return False  # raised by a library
    for instruction in dis.get_instructions(codes[-1]):
        if instruction.opname == "RAISE_VARARGS":
            return True
        if instruction.opname not in _OF_A_STUB and instruction.argval != "NotImplementedError":
            return False  # it does something before
    return False


def _encodable(text: str) -> str:
    """Lone surrogates, which no UTF-8 holds, as escapes."""
    return str.encode(text, "utf-8", "backslashreplace").decode()


def _kind(kind: type) -> str:
    """A builtin's name as it stands; another class that took such a name is told apart by its module."""
    name = type.__getattribute__(kind, "__name__")[:100]
    builtin = getattr(builtins, name, None)
    return f"{kind.__module__}.{name}" if isinstance(builtin, type) and builtin is not kind else name


def _message(error: BaseException) -> str:
    try:
        if isinstance(error, SyntaxError):
            return str(error.msg)
        if isinstance(error, KeyError) and len(error.args) == 1:
            return repr(error.args[0])
        return str(error)
    except BaseException as other:  # their __str__ may do anything
        return f"(its message could not be made: {_kind(type(other))})"


def _frames(error: BaseException, folder: str) -> str:
    prefix = folder + os.sep
    lines: list[str] = []
    try:
        last = None
        for frame, number in traceback.walk_tb(error.__traceback__):
            code = frame.f_code
            repeated, last = frame is last, frame  # what is raised by a trace function is noted twice
            if is_theirs(code.co_filename, folder) and not repeated:
                lines.append(_line(code.co_filename, prefix, number, f", in {_function(code)}"))
        if isinstance(error, SyntaxError) and str(error.filename).startswith(prefix):
            lines.append(_line(str(error.filename), prefix, error.lineno or 0, ""))
    except BaseException as other:  # the interpreter may be in any state
        lines.append(f"(the frames could not be read: {_kind(type(other))})")
    if len(lines) > MAX_FRAMES:
        lines = [lines[0], f"({len(lines) - MAX_FRAMES} more)", *lines[1 - MAX_FRAMES :]]
    return "\n".join(lines)


def _function(code: CodeType) -> str:
    return str(getattr(code, "co_qualname", code.co_name))[:MAX_LINE]


def _line(file: str, prefix: str, number: int, function: str) -> str:
    source = linecache.getline(file, number).strip()[:MAX_LINE]
    place = f"{file[len(prefix) :]}, line {number}{function}"
    return f"{place}\n    {source}" if source else place
