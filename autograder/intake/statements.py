"""Students' Python, described statement by statement by a process that is allowed to die of it.

This side starts that process, bounds it, and reads plain data from it; it parses nothing itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import accumulate
from pathlib import Path
from typing import Literal

import msgspec

from autograder.errors import GraderError

WALL_SECONDS = 60
LARGEST_INPUT = 16 << 20
LARGEST_ANSWER = 64 << 20
MOST_DEATHS = 3
START = "import sys; sys.path.append(sys.argv[1]); from parsing.process import main; main()"

StatementKind = Literal["import", "definition", "assignment", "block", "expression", "setting", "other"]


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """One top-level statement (of an import, one imported name).

    `line` counts from 1 in its cell. `binds` are the names that it gives a value, `reads` the global names that
    it, or code within it, looks up, `changes` those of what it alters in place (`d[k] = v`). `eligible`: it gives names
    their values and does nothing else; `inert`: it cannot fail; `stub`: a definition that is not implemented.
    `wraps` are the names that an assigned value is, or is called with; "lambda" and "." (an attribute) need no name.
    """

    kind: StatementKind
    line: int
    text: str
    binds: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    eligible: bool = True
    wraps: tuple[str, ...] = ()
    inert: bool = False
    stub: bool = False
    module: str = ""
    star: bool = False


class Outline(msgspec.Struct, frozen=True, kw_only=True):
    """The statements of one source, or the `fault` for which it has none ("is not Python (line 3: ...)").

    `repaired`: Python alone would not have read it (magics were taken out, an indent).
    """

    statements: tuple[Statement, ...]
    fault: str = ""
    repaired: bool = False


def outlines(sources: list[str]) -> list[Outline]:
    """Describe each source (a notebook's cell, or a whole file), in order.

    A source that the parser dies of has a `fault`; the others are described all the same.

    Raises:
        GraderError: the process could not be started, which is not the student's doing.
    """
    described: list[Outline] = []
    deaths = 0
    ends = accumulate(len(source) for source in sources)
    within = sources[: sum(end <= LARGEST_INPUT for end in ends)]
    while len(described) < len(within):
        if deaths == MOST_DEATHS:
            break
        described += _from_one_process(within[len(described) :])
        if len(described) < len(within):
            described.append(Outline(statements=(), fault="could not be parsed within the limits of time and memory"))
            deaths += 1
    rest = len(sources) - len(described)
    return described + [Outline(statements=(), fault="was not read, since there is too much before it")] * rest


def _from_one_process(sources: list[str]) -> list[Outline]:
    """The outlines that one process gave before it ended, one way or the other."""
    command = [sys.executable, "-I", "-S", "-B", "-W", "ignore", "-c", START, str(Path(__file__).parent)]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"SYSTEMROOT": os.environ.get("SYSTEMROOT", "")},
        )
    except OSError as error:
        raise GraderError(f"Python could not be started to parse a submission ({error.strerror}).") from error
    try:
        answer, _ = process.communicate(json.dumps(sources).encode(), timeout=WALL_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        answer, _ = process.communicate()
    found: list[Outline] = []
    for line in answer[:LARGEST_ANSWER].split(b"\n")[:-1]:
        try:
            found.append(msgspec.json.decode(line, type=Outline, strict=True))
        except msgspec.MsgspecError:
            break
    if process.returncode and not found and process.returncode > 0 and not _can_start(command):
        raise GraderError("The parser of submissions does not start: run `make setup` again.")
    return found


def _can_start(command: list[str]) -> bool:
    """Whether the parser runs at all, tried with nothing to parse."""
    return subprocess.run(command, input=b"[]", capture_output=True, timeout=WALL_SECONDS, check=False).returncode == 0
