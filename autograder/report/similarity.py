"""Which submissions share code that the others do not have.

1. Source becomes tokens: names, numbers and strings lose what they are called, and comments, commas and parentheses are
   left out, so that renaming and reformatting change nothing.
2. Every 20 tokens in a row are hashed, and of each 6 hashes in a row the smallest is kept (winnowing: Schleimer,
   Wilkerson, Aiken 2003, section 3). Moving a function changes only the hashes at its ends.
3. What the handout and the starter code have is left out, and so is what many have: it is how one does it.
4. Two submissions are as similar as the share of the smaller one's hashes that both have.

It is a place to look and no verdict: short and obvious code is alike without anybody's doing.
"""

from __future__ import annotations

import keyword
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

TOKENS, WINDOW = 20, 6
MOST_PAIRS = 40
_COMMON = 0.1
"""Of the class: what more have is common."""
_FEW = 10
"""So many may share something in any class, and it is not common: they may have copied from one another."""
_LEAST = 6
"""Hashes that a pair shares before it is shown: some 30 tokens in a row."""
_NEAR = 2
_TOKEN = re.compile(
    r"(?P<skip>#[^\n]*|\"{3}(?:[^\\]|\\.)*?(?:\"{3}|\Z)|'{3}(?:[^\\]|\\.)*?(?:'{3}|\Z)|[\s(),\\;]+)"
    r"|(?P<string>\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?)|(?P<name>[^\W\d]\w*)|(?P<number>\d[\w.]*)|(?P<sign>.)",
    re.DOTALL,
)


class Place(NamedTuple):
    """Where 20 tokens stand: their file, and the first and last line, from 1."""

    file: str
    first: int
    last: int


class Block(NamedTuple):
    """Lines of one submission that stand in another one, too."""

    left: Place
    right: Place


class Pair(NamedTuple):
    """Two submissions: how similar they are (0 to 1), how many hashes they share, and where."""

    left: str
    right: str
    similarity: float
    shared: int
    blocks: tuple[Block, ...]


Prints = dict[int, Place]


def fingerprints(files: Mapping[str, str]) -> Prints:
    """The hashes that winnowing keeps of some source files, and where each stands first."""
    found: Prints = {}
    for file, text in sorted(files.items()):
        tokens = _tokens(text)
        hashes = [
            zlib.crc32("\0".join(token for token, _ in tokens[at : at + TOKENS]).encode("utf-8", "replace"))
            for at in range(len(tokens) - TOKENS + 1)
        ]
        for start in range(max(1, len(hashes) - WINDOW + 1)) if hashes else ():
            at = min(range(start, min(start + WINDOW, len(hashes))), key=lambda at: (hashes[at], -at))
            found.setdefault(hashes[at], Place(file, tokens[at][1], tokens[at + TOKENS - 1][1]))
    return found


def every_hash(text: str) -> set[int]:
    """All hashes of a text, winnowed or not: what is given must not be found however it is cut."""
    tokens = [token for token, _ in _tokens(text)]
    return {
        zlib.crc32("\0".join(tokens[at : at + TOKENS]).encode("utf-8", "replace"))
        for at in range(len(tokens) - TOKENS + 1)
    }


def _tokens(text: str) -> list[tuple[str, int]]:
    """The tokens of a source without their names, and the line of each."""
    found: list[tuple[str, int]] = []
    line, at = 1, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        word = match.group()
        if match.lastgroup == "name":
            found.append((word if keyword.iskeyword(word) else "name", line))
        elif match.lastgroup != "skip":
            found.append((word if match.lastgroup == "sign" else str(match.lastgroup), line))
    return found


def similar_pairs(prints: Mapping[str, Prints], given: Collection[int] = (), older: Collection[str] = ()) -> list[Pair]:
    """Pairs that share what few have, the most similar first.

    Args:
        prints: the hashes of each submission.
        given: hashes of what the handout gives.
        older: submissions of an earlier year: two of these are no pair.
    """
    has = defaultdict[int, list[str]](list)
    for name, own in prints.items():
        for each in own:
            has[each].append(name)
    most = max(_FEW, int(_COMMON * len(prints)))
    rare = {each: names for each, names in has.items() if len(names) <= most and each not in given}
    shared = Counter(pair for names in rare.values() for pair in combinations(sorted(names), 2))
    whole = {name: sum(each not in given for each in own) for name, own in prints.items()}
    pairs = [
        (count / max(1, min(whole[left], whole[right])), count, left, right)
        for (left, right), count in shared.items()
        if count >= _LEAST and not (left in older and right in older)
    ]
    pairs.sort(key=lambda each: (-each[0], -each[1], each[2:]))
    return [
        Pair(left, right, similarity, count, tuple(_blocks(prints[left], prints[right], rare)))
        for similarity, count, left, right in pairs[:MOST_PAIRS]
    ]


def _blocks(left: Prints, right: Prints, rare: Mapping[int, Sequence[str]]) -> Iterable[Block]:
    """What both have, as runs of lines: neighbours on both sides are one."""
    both = sorted((left[each], right[each]) for each in left.keys() & right.keys() & rare.keys())
    current: Block | None = None
    for one, other in both:
        if current is not None and _is_near(current.left, one) and _is_near(current.right, other):
            current = Block(_joined(current.left, one), _joined(current.right, other))
            continue
        if current is not None:
            yield current
        current = Block(one, other)
    if current is not None:
        yield current


def _is_near(one: Place, other: Place) -> bool:
    return one.file == other.file and one.first - _NEAR <= other.last and other.first <= one.last + _NEAR


def _joined(one: Place, other: Place) -> Place:
    return Place(one.file, min(one.first, other.first), max(one.last, other.last))
