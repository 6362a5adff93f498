"""How fast the reference of byte-pair encoding is, against the plain recount (minbpe's way), on 1 MB of text.

The recount counts all pairs of the text anew for each merge. Doing that 2,000 times takes many minutes, so it is
timed at nine stages of the training and summed between them. Encoding is timed whole, from a tokenizer that has met no
word yet, and again from one that has met them all.

How much faster it is depends on the text: both cut it into pre-tokens by the same pattern, which alone is half of what
the reference takes. Sentences of words as frequent as those of a language (Zipf's law) are one text; the other is the
help texts and docstrings of Python, in which every second pre-token is a sign, which costs the recount next to nothing.
"""

from __future__ import annotations

import ast
import importlib.util
import pydoc_data.topics
import random
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType

from benchmarks.measure import Row

SOLUTION = Path(__file__).resolve().parents[1] / "solutions" / "08_transformers" / "tokens.py"
CHARACTERS = 1_000_000
MERGES = 2_000
TRIES = 5
STAGES = (0, 125, 250, 500, 750, 1000, 1250, 1500, 2000)
Ids = list[int]


def rows() -> list[Row]:
    """CPU seconds of the recount over those of the reference, for training and for encoding."""
    part, text = reference(), sentences()
    (_, merges), training = timed(lambda: part.train_bpe(text, 256 + MERGES))
    return [
        _row(f"training on 1 MB, {MERGES:,} merges", seconds_of_recounts(part, text, merges), training, 20),
        *encoding_rows(part, text, "sentences", least=10),
        *encoding_rows(part, documentation(), "documentation", least=6),
    ]


def encoding_rows(part: ModuleType, text: str, kind: str, least: float) -> Iterator[Row]:
    """Encoding by the merges of that text: at first, and when all words were met. The fastest of each in TRIES."""
    vocab, merges = part.train_bpe(text, 256 + MERGES)
    plain, new, met = ([] for _ in range(3))
    for _ in range(TRIES):
        tokenizer = part.Tokenizer(vocab, merges)
        encoded, seconds = timed(lambda tokenizer=tokenizer: tokenizer.encode(text))
        new.append(seconds)
        met.append(timed(lambda tokenizer=tokenizer: tokenizer.encode(text))[1])
        recounted, seconds = timed(lambda: recount_encode(part, text, merges))
        plain.append(seconds)
        assert encoded == recounted
    yield _row(f"encoding 1 MB of {kind}", min(plain), min(new), least)
    yield _row("encoding it again", min(plain), min(met), 10)


def _row(what: str, plain: float, ours: float, least: float) -> Row:
    figure = f"{plain / ours:.1f} times ({plain:.2f} s against {ours:.3f} s)"
    return Row(f"{what}, against the plain recount", figure, f"at least {least:g} times", plain / ours >= least)


def documentation() -> str:
    """A million characters of English: the help texts of Python, then docstrings of its library."""
    text = "".join(pydoc_data.topics.topics.values())
    library = Path(ast.__file__).parent
    for path in sorted(library.glob("*.py")):
        if len(text) >= CHARACTERS:
            break
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
        text += "\n".join(ast.get_docstring(node) or "" for node in nodes if isinstance(node, kinds))
    return text[:CHARACTERS]


def sentences() -> str:
    """A million characters of 30,000 made-up words, the n-th 1 / n times as frequent as the first, with punctuation."""
    draw = random.Random(0)
    syllables = [first + rest for first in "bcdfghlmnprstvw" for rest in ("a", "e", "i", "o", "u", "er", "an", "in")]
    words = ["".join(draw.choices(syllables, k=draw.randint(1, 4))) for _ in range(30_000)]
    frequencies = [1 / n for n in range(1, len(words) + 1)]
    stops = draw.choices([" ", ", ", ". ", ".\n"], [85, 8, 5, 2], k=CHARACTERS // 4)
    return "".join(map(str.__add__, draw.choices(words, frequencies, k=len(stops)), stops))[:CHARACTERS]


def reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tokens_reference", SOLUTION)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def timed(call: Callable[[], object]):
    """What a call returns, and the seconds of CPU it took."""
    start = time.process_time()
    value = call()
    return value, time.process_time() - start


# ------------------------------------------------------------------ minbpe's way (github.com/karpathy/minbpe)


def count(chunks: list[Ids]) -> dict[tuple[int, int], int]:
    counts: dict[tuple[int, int], int] = {}
    for ids in chunks:
        for pair in zip(ids, ids[1:]):  # noqa: B905, RUF007
            counts[pair] = counts.get(pair, 0) + 1
    return counts


def merge(ids: Ids, pair: tuple[int, int], new: int) -> Ids:
    merged: Ids = []
    i = 0
    while i < len(ids):
        if ids[i] == pair[0] and i < len(ids) - 1 and ids[i + 1] == pair[1]:
            merged.append(new)
            i += 2
        else:
            merged.append(ids[i])
            i += 1
    return merged


def in_ids(merges: list[tuple[bytes, bytes]]) -> list[tuple[int, int]]:
    """Merges as minbpe has them: pairs of ids."""
    ids = {bytes([byte]): byte for byte in range(256)}
    pairs: list[tuple[int, int]] = []
    for first, second in merges:
        pairs.append((ids[first], ids[second]))
        ids[first + second] = 256 + len(pairs) - 1
    return pairs


def recount_encode(part: ModuleType, text: str, merges: list[tuple[bytes, bytes]]) -> Ids:
    """Each pre-token by itself: count its pairs, merge the earliest, until none is left."""
    new_id = {pair: 256 + rank for rank, pair in enumerate(in_ids(merges))}
    encoded: Ids = []
    for word in part.PATTERN.findall(text):
        ids = list(word.encode())
        while len(ids) >= 2:
            pair = min(count([ids]), key=lambda p: new_id.get(p, float("inf")))
            if pair not in new_id:
                break
            ids = merge(ids, pair, new_id[pair])
        encoded += ids
    return encoded


def seconds_of_recounts(part: ModuleType, text: str, merges: list[tuple[bytes, bytes]]) -> float:
    """The seconds that training by recounting takes, from the time of one merge at each of the stages."""
    pairs = in_ids(merges)
    words = [word.encode() for word in part.PATTERN.findall(text)]
    states = {word: list(word) for word in words}
    taken: list[float] = []
    for done in range(STAGES[-1] + 1):
        if done in STAGES:
            chunks = [states[word] for word in words]
            pair = pairs[min(done, len(pairs) - 1)]
            _, seconds = timed(lambda chunks=chunks, pair=pair: _one_merge(chunks, pair))
            taken.append(seconds)
        if done < len(pairs):
            states = {word: merge(ids, pairs[done], 256 + done) for word, ids in states.items()}
    stages = list(zip(STAGES, taken, strict=True))
    return sum((b - a) * (at_a + at_b) / 2 for (a, at_a), (b, at_b) in pairwise(stages))


def _one_merge(chunks: list[Ids], pair: tuple[int, int]) -> list[Ids]:
    counts = count(chunks)
    max(counts, key=lambda p: counts[p])
    return [merge(ids, pair, 0) for ids in chunks]
