"""Reading a TOML file, and a sentence where that cannot be done: with the line, since a person wrote it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from autograder.errors import SoftmarkError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_LONGEST_LINE = 80


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file. Raises `SoftmarkError` where it cannot be read; FileNotFoundError passes."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise SoftmarkError(f"{path} could not be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise SoftmarkError(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise SoftmarkError(f"{path} is not TOML: {error}{_line_of(str(error), path)}.") from error


def _line_of(message: str, path: Path) -> str:
    """The line that the message of a TOML fault names, as it stands; "" where it names none."""
    place = re.search(r"\(at line (\d+), column \d+\)$", message)
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    line = lines[int(place[1]) - 1].strip() if place and int(place[1]) <= len(lines) else ""
    return f": {line[:_LONGEST_LINE]}" if line else ""
