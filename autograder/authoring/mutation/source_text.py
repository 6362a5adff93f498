"""A source with the places of its syntax tree's nodes, and a change of it: some bytes in place of others.

Changes are made in the text and not in the tree, so that all but one line stays as its author wrote it.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

_ATOMS = (ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Call, ast.List, ast.Dict, ast.Set, ast.JoinedStr)


@dataclass(frozen=True)
class Edit:
    """Bytes `start` to `stop` of a source become `new`.

    Attributes:
        kind: of change, in a word or two: "axis", "exchanged arguments".
        name: what was changed, as part of a file's name.
        sentence: what a student did who wrote it so, after "In `softmax`, ". It quotes no code of the solution.
    """

    kind: str
    start: int
    stop: int
    new: str
    name: str
    sentence: str


class SourceText:
    """A source, its tree, and where each node stands in it (columns of a tree count bytes)."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.data = source.encode()
        self.tree = ast.parse(source)
        self._line_starts = [0]
        for line in self.data.splitlines(keepends=True):
            self._line_starts.append(self._line_starts[-1] + len(line))
        self._comments = list(self._find_comments())

    def start(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        """The place of a node's first byte."""
        return self._line_starts[node.lineno - 1] + node.col_offset

    def stop(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        """The place after a node's last byte."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._line_starts[node.end_lineno - 1] + node.end_col_offset

    def of(self, node: ast.expr | ast.stmt | ast.keyword) -> str:
        """A node as it was written, without parentheses around it."""
        return self.data[self.start(node) : self.stop(node)].decode()

    def whole(self, node: ast.expr) -> str:
        """An expression as it can stand anywhere: in parentheses, unless it needs none."""
        return self.of(node) if isinstance(node, _ATOMS) else f"({self.of(node)})"

    def line(self, place: int) -> int:
        """The number of the line of a byte, from 1."""
        return self.data.count(b"\n", 0, place) + 1

    def between(self, start: int, stop: int) -> str:
        """What stands there."""
        return self.data[start:stop].decode()

    def code_between(self, start: int, stop: int) -> str:
        """What stands there, without comments."""
        kept = [start, *(place for span in self._comments if start <= span[0] < stop for place in span), stop]
        return "".join(self.between(*pair) for pair in zip(kept[::2], kept[1::2], strict=True))

    def _find_comments(self) -> Iterator[tuple[int, int]]:
        lines = self.source.splitlines()
        for token in tokenize.generate_tokens(io.StringIO(self.source).readline):
            if token.type == tokenize.COMMENT:
                row, column = token.start
                start = self._line_starts[row - 1] + len(lines[row - 1][:column].encode())
                yield start, start + len(token.string.encode())

    def replaced(self, change: Edit) -> str:
        """The source with one change made."""
        return (self.data[: change.start] + change.new.encode() + self.data[change.stop :]).decode()

    def instead(self, node: ast.expr | ast.stmt, kind: str, new: str, name: str, sentence: str) -> Edit:
        """The change that puts `new` where a node stands."""
        return Edit(kind, self.start(node), self.stop(node), new, name, sentence)
