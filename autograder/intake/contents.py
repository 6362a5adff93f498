"""The files of one submission, each read as what it is: Python, a notebook, or data.

Names are not believed: a notebook saved as `.py`, a notebook's code exported to a script with its magics, and a
download that got a `.txt` at its end are what their content says. It does not decide which file is which part.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from autograder.assignment.assignment import Part
from autograder.errors import Unreadable
from autograder.intake.archive import OTHER_FORMATS
from autograder.intake.assembly import Code, read_codes
from autograder.intake.cells import Cell, Notebook, read_notebook
from autograder.intake.encoding import Source, read_source
from autograder.intake.files import Collected, suffix_of
from autograder.intake.statements import Outline, outlines

DEFINES = re.compile(r"^(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
EXPORTED = re.compile(r"^(?:get_ipython\(\)|![\w.]|%{1,2}\w|\w+ *= *(?:!\w|get_ipython\(\)))", re.MULTILINE)
"""A line that only a notebook has."""
LARGEST_OUTLINED = 1 << 20
UNKNOWN = Outline(statements=(), fault="is too long to be looked into")
SHORTEST_PART = 500  # characters
FAULT_LINE = re.compile(r"\(line (\d+):")
TOP_LEVEL = re.compile(r"^(?:def|class|async|import|from|@)", re.MULTILINE)
CONTROLS = re.compile("[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
JSON = re.compile(r"\s*(?:\{|\[\s*\{)")
CELL_MARK = re.compile(r"^# (?:In\[[\d ]*\]:|%%).*$", re.MULTILINE)


@dataclass
class HandIn:
    """Everything that was handed in, read as far as it can be; what cannot is in `problems`, by path."""

    shown: str
    sources: dict[str, Source] = field(default_factory=dict[str, Source])
    notebooks: dict[str, Code] = field(default_factory=dict[str, Code])
    others: dict[str, bytes] = field(default_factory=dict[str, bytes])
    problems: dict[str, str] = field(default_factory=dict[str, str])
    outlined: dict[str, Outline] = field(default_factory=dict[str, Outline])

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
        outline = self._outline(path)
        bound = {name for one in outline.statements if not one.stub for name in one.binds}
        stars = any(one.star and not one.module.startswith(("torch", "numpy")) for one in outline.statements)
        return bool(outline.fault) or stars or not bound.isdisjoint(part.definitions)

    def work(self, path: str, part: Part) -> dict[str, str]:
        """The part's names that a file gives a value in earnest, with the text that does so, as far as it parses."""
        if path in self.sources and self._outline(path).fault:
            return dict.fromkeys(self.defines(path, part), self.sources[path].text)
        placed = [one.statement for one in self.notebooks[path].placed] if path in self.notebooks else []
        statements = placed or self._outline(path).statements
        found: dict[str, str] = {}
        for one in statements:
            if one.kind in ("definition", "assignment", "block") and not one.stub:
                found.update({name: one.text for name in one.binds if name in part.definitions})
        return found

    def breaks_off(self, path: str, part: Part) -> int:
        """The line in which an upload or a download broke off; 0 where none did.

        Such a file ends within a line and a statement, before some of the part's functions. Who made a syntax error has
        them all, as the starter code does.
        """
        text = self.sources[path].text if path in self.sources else ""
        expected = {name.partition(".")[0] for name in part.functions}
        if len(text) < SHORTEST_PART or text.endswith("\n") or expected.issubset(self.defines(path, part)):
            return 0
        fault = FAULT_LINE.search(self._outline(path).fault)
        lines = text.split("\n")
        return len(lines) if fault and not TOP_LEVEL.search("\n".join(lines[int(fault[1]) :])) else 0

    def _outline(self, path: str) -> Outline:
        if not self.outlined:  # all at once: few submissions need this, and one process then serves it
            small = [one for one, source in self.sources.items() if len(source.text) <= LARGEST_OUTLINED]
            self.outlined.update(zip(small, outlines([self.sources[one].text for one in small]), strict=True))
        return self.outlined.get(path, UNKNOWN)


def read_hand_in(collected: Collected) -> HandIn:
    """Read each file as what it is. One that cannot be read becomes a problem, and the others are read all the same."""
    hand_in = HandIn(collected.shown, problems=dict(collected.unopened))
    notebooks: dict[str, Notebook] = {}
    for path, data in sorted(collected.files.items()):
        suffix = suffix_of(path)
        try:
            if _is_notebook(path, data):
                notebooks[path] = read_notebook(data, path)
            elif suffix == ".py":
                hand_in.sources[path] = _python(path, data)
            elif suffix == ".txt" and DEFINES.search(data.decode("latin-1")):
                hand_in.sources[path] = read_source(data, path)
        except Unreadable as error:
            hand_in.problems[path] = str(error)
        if collected.keeps(path) and suffix not in (".py", ".ipynb", ".zip"):
            hand_in.others[path] = data
    for said in collected.too_large:
        hand_in.problems[said.rpartition(" (")[0]] = f"{said} is too large to be read: clear its outputs and results."
    for path in _exported(hand_in.sources):
        notebooks[path] = _as_notebook(hand_in.sources.pop(path))
    hand_in.notebooks.update(read_codes(notebooks))
    return hand_in


def _is_notebook(path: str, data: bytes) -> bool:
    name = path.casefold()
    if name.endswith((".ipynb", ".ipynb.txt", ".ipynb.json")):
        return True
    return name.endswith(".py") and data.lstrip()[:1] == b"{" and b'"cells"' in data


def _python(path: str, data: bytes) -> Source:
    """A file called `.py` as text. Raises `Unreadable` for what cannot be the student's code: nobody has seen that."""
    head = data[:64].lstrip(b"\xef\xbb\xbf \r\n\t")
    for magic, what in (*OTHER_FORMATS, (b"PK\x03\x04", "a zip"), (b"404: Not Found", "a site's answer")):
        if head[: len(magic)].lower() == magic.lower():
            raise Unreadable(f"{path} is {what}, not Python: hand in the file that you edited.")
    source = read_source(data, path)
    if len(CONTROLS.findall(source.text)) > len(source.text) // 50 or "\0" in source.text:
        raise Unreadable(f"{path} holds bytes that are no text: hand in the file that you edited.")
    if _is_json(source.text):
        raise Unreadable(f"{path} is JSON, such as a site's answer, not Python: hand in the file that you edited.")
    return source


def _is_json(text: str) -> bool:
    """Whether all of it is one JSON object, or a list that begins with one: that is no program."""
    if not JSON.match(text) or len(text) > LARGEST_OUTLINED:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _exported(sources: dict[str, Source]) -> list[str]:
    """Scripts that were exported from a notebook and that Python alone could not run."""
    likely = [path for path, source in sources.items() if EXPORTED.search(source.text[:LARGEST_OUTLINED])]
    found: list[str] = []
    for path, outline in zip(likely, outlines([sources[path].text for path in likely]), strict=True):
        asks_ipython = any("get_ipython" in one.reads for one in outline.statements if one.kind != "definition")
        if not outline.fault and (outline.repaired or asks_ipython):
            found.append(path)
    return found


def _as_notebook(source: Source) -> Notebook:
    """An exported script as the notebook it was: a cell from each mark to the next."""
    cells = (Cell(number, "code", text) for number, text in enumerate(CELL_MARK.split(source.text)))
    return Notebook(tuple(cells), (source.note,) if source.note else ())
