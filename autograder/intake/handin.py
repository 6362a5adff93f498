"""The files of one submission, each read as what it is: Python, a notebook, or data.

Names are not believed: a notebook saved as `.py`, a notebook's code exported to a script with its magics, and a
download that got a `.txt` at its end are what their content says. It does not decide which file is which part.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from autograder.assignment import Part
from autograder.errors import Unreadable
from autograder.intake.assembly import Code, read_code
from autograder.intake.encoding import Source, read_source
from autograder.intake.files import KEPT, Collected, suffix_of
from autograder.intake.notebook import Cell, Notebook, read_notebook
from autograder.intake.statements import outlines

DEFINES = re.compile(r"^(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
EXPORTED = re.compile(r"^(?:get_ipython\(\)|![\w.]|%{1,2}\w|\w+ *= *(?:!\w|get_ipython\(\)))", re.MULTILINE)
"""A line that only a notebook has."""
CELL_MARK = re.compile(r"^# (?:In\[[\d ]*\]:|%%).*$", re.MULTILINE)


@dataclass
class HandIn:
    """Everything that was handed in, read as far as it can be; what cannot is in `problems`, by path."""

    shown: str
    sources: dict[str, Source] = field(default_factory=dict[str, Source])
    notebooks: dict[str, Code] = field(default_factory=dict[str, Code])
    others: dict[str, bytes] = field(default_factory=dict[str, bytes])
    problems: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def code(self) -> list[str]:
        """The paths of everything that a part may be taken from."""
        return [*self.sources, *self.notebooks]

    def text(self, path: str) -> str:
        """A source's text, or that of a notebook's statements: equal for files that say the same."""
        if path in self.sources:
            return self.sources[path].text
        return "\n".join(one.statement.text for one in self.notebooks[path].placed)

    def defines(self, path: str, part: Part) -> list[str]:
        """Those of the part's names that a file seems to define, stubs in a notebook not counted."""
        if path in self.notebooks:
            found = self.notebooks[path].defined
        else:
            found = {one[1] or one[2] for one in DEFINES.finditer(self.sources[path].text)}
        return [name for name in part.definitions if name in found]

    def implements(self, path: str, part: Part) -> bool:
        """Whether at least one of the part's names is more than a stub in that file, as far as it can be parsed."""
        if path in self.notebooks:
            return bool(self.defines(path, part))
        outline = outlines([self.sources[path].text])[0]
        bound = {name for one in outline.statements if not one.stub for name in one.binds}
        stars = any(one.star and not one.module.startswith(("torch", "numpy")) for one in outline.statements)
        return bool(outline.fault) or stars or not bound.isdisjoint(part.definitions)


def read_hand_in(collected: Collected) -> HandIn:
    """Read each file as what it is. One that cannot be read becomes a problem, and the others are read all the same."""
    hand_in = HandIn(collected.shown)
    for path, data in sorted(collected.files.items()):
        suffix = suffix_of(path)
        try:
            if _is_notebook(path, data):
                hand_in.notebooks[path] = read_code(read_notebook(data, path), path)
            elif suffix == ".py":
                _read_python(path, data, hand_in)
            elif suffix == ".txt" and DEFINES.search(data.decode("latin-1")):
                hand_in.sources[path] = read_source(data, path)
        except Unreadable as error:
            hand_in.problems[path] = str(error)
        if suffix in KEPT and suffix != ".py":
            hand_in.others[path] = data
    for said in collected.too_large:
        hand_in.problems[said.rpartition(" (")[0]] = f"{said} is too large to be read: clear its outputs and results."
    return hand_in


def _is_notebook(path: str, data: bytes) -> bool:
    name = path.casefold()
    if name.endswith((".ipynb", ".ipynb.txt", ".ipynb.json")):
        return True
    return name.endswith(".py") and data.lstrip()[:1] == b"{" and b'"cells"' in data


def _read_python(path: str, data: bytes, hand_in: HandIn) -> None:
    source = read_source(data, path)
    if "\0" in source.text:
        raise Unreadable(f"{path} holds bytes that are no text: hand in the file that you edited.")
    code = _exported_notebook(source, path)
    if code is None:
        hand_in.sources[path] = source
    else:
        hand_in.notebooks[path] = code


def _exported_notebook(source: Source, path: str) -> Code | None:
    """The code of a notebook exported to a script, which Python alone could not run; None for other scripts."""
    if not EXPORTED.search(source.text):
        return None
    outline = outlines([source.text])[0]
    asks_ipython = any("get_ipython" in one.reads for one in outline.statements if one.kind != "definition")
    if outline.fault or not (outline.repaired or asks_ipython):
        return None
    cells = CELL_MARK.split(source.text)
    notes = (source.note,) if source.note else ()
    return read_code(Notebook(tuple(Cell(number, "code", cell) for number, cell in enumerate(cells)), notes), path)
