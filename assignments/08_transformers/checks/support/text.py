"""Training byte-pair encoding, seen from outside: a student's merges replayed, a student's vocabulary read.

Of several most frequent pairs a trainer may merge any, and the choice changes all that follows. So the student's own
merges are replayed on the text, and each is asked whether it was a right one. There is no trainer and no encoder in
here; what encoding gives is compared in `ids`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

import regex

from autograder.testing.mismatch import Mismatch, compared, describe

Pair = tuple[bytes, bytes]
Word = tuple[bytes, ...]
_ACROSS = (
    "no pre-token holds these bytes side by side: a pair reaches neither into the next one nor into a special token"
)
_NO_LONGER = (
    "the bytes stand in a word, but no longer as these two tokens: are counts kept up to date after each merge?"
)

GPT2_PATTERN = regex.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
"""How GPT-2 cuts text into pre-tokens (Radford et al., 2019)."""


# ------------------------------------------------------------------ training


def assert_trained(got: Any, text: str, vocab_size: int, special_tokens: Sequence[str] = ()) -> None:
    """The merges are those of byte-pair encoding: each a most frequent pair, and neither too many nor too few.

    Args:
        got: what `train_bpe` returned: (vocab, merges). The vocabulary is not looked at, see `assert_vocabulary`.
        text: what it was trained on.
        vocab_size: how many tokens it was to have.
        special_tokens: likewise.

    Raises:
        Mismatch: naming the first merge that is none of the most frequent pairs.
    """
    _replay(got, text, vocab_size, special_tokens, _assert_most_frequent)


def assert_merged_within_words(got: Any, text: str, vocab_size: int, special_tokens: Sequence[str] = ()) -> None:
    """Each merge joins two neighbours that stand in one pre-token at that time; neither too many nor too few do.

    That each is a most frequent pair is not asked, so that a wrong count costs its own checks and not those of where
    text is cut. Arguments are those of `assert_trained`; a `vocab_size` that no text fills shows every cut.

    Raises:
        Mismatch: naming the first merge that joins what never stood together.
    """
    _replay(got, text, vocab_size, special_tokens, _assert_occurs)


def assert_vocabulary(got: Any, special_tokens: Sequence[str] = ()) -> None:
    """`vocab` holds the 256 bytes, the special tokens, and what each merge made, in this order and nothing else.

    Args:
        got: what `train_bpe` returned: (vocab, merges). Whether the merges are right is not asked.
        special_tokens: those it was trained with.

    Raises:
        Mismatch: naming the first id that stands for something else.
    """
    vocab, merges = vocabulary_and_merges(got)
    compared(vocab, None, "vocab")
    tokens = [*single_bytes(bytes(range(256))), *(special.encode() for special in special_tokens)]
    tokens += [first + second for first, second in merges]
    for number, token in enumerate(tokens):
        if vocab.get(number) != token:
            found = repr(vocab[number]) if number in vocab else "nothing"
            raise Mismatch(f"vocab[{number}]", repr(token), found)
    if len(vocab) != len(tokens):
        raise Mismatch("vocab", f"{len(tokens)} ids, 0 to {len(tokens) - 1}", f"{len(vocab)} ids")


def words_of(text: str, special_tokens: Sequence[str] = ()) -> Counter[bytes]:
    """The pre-tokens of a text and how often each occurs: cut at special tokens, the longest first, then by GPT-2's
    pattern.
    """
    pieces = [text]
    if special_tokens:
        longest_first = sorted(special_tokens, key=len, reverse=True)
        pieces = regex.split("|".join(regex.escape(special) for special in longest_first), text)
    return Counter(word.encode() for piece in pieces for word in cast("list[str]", GPT2_PATTERN.findall(piece)))


def _replay(
    got: Any,
    text: str,
    vocab_size: int,
    special_tokens: Sequence[str],
    judge: Callable[[Pair, str, Mapping[Word, int]], None],
) -> None:
    """Carry out the merges one by one on the words of `text`, and let `judge` look at each before it is made."""
    _, merges = vocabulary_and_merges(got)
    compared(merges, None, "merges")
    room = vocab_size - 256 - len(special_tokens)
    words: Mapping[Word, int] = {single_bytes(word): times for word, times in words_of(text, special_tokens).items()}
    for number, pair in enumerate(merges):
        if number >= room:
            rest = f"at most {room} merges: {vocab_size} tokens less 256 bytes and {len(special_tokens)} special tokens"
            raise Mismatch("merges", rest, f"{len(merges)} merges")
        if not _counted(words):
            raise Mismatch(f"merge {number + 1}", "no merge: no pair is left", _shown(pair))
        judge(pair, f"merge {number + 1}", words)
        words = _joined(words, pair)
    left = _counted(words)
    if len(merges) < room and left:
        pair, times = left.most_common(1)[0]
        expected = f"{room} merges, or fewer when no pair is left"
        raise Mismatch("merges", expected, f"{len(merges)} merges, after which {_shown(pair)} occurs {_times(times)}")


def _assert_occurs(pair: Pair, what: str, words: Mapping[Word, int]) -> None:
    if pair not in _counted(words):
        raise Mismatch(
            what, "two neighbours in one pre-token", f"{_shown(pair)}, which occurs nowhere", _why(pair, words)
        )


def _assert_most_frequent(pair: Pair, what: str, words: Mapping[Word, int]) -> None:
    counts = _counted(words)
    most = max(counts.values())
    if counts[pair] == most:
        return
    best = min(each for each, count in counts.items() if count == most)
    occurs = f"which occurs {_times(counts[pair])}" if pair in counts else "which occurs nowhere"
    expected = f"a pair that occurs {_times(most)}, such as {_shown(best)}"
    raise Mismatch(what, expected, f"{_shown(pair)}, {occurs}", _why(pair, words))


def _why(pair: Pair, words: Mapping[Word, int]) -> str:
    """The likely cause, where one is known: another way to count, by which `pair` is the most frequent."""
    if pair not in _counted(words):
        return _NO_LONGER if any(b"".join(pair) in b"".join(word) for word in words) else _ACROSS
    for counts, hint in (
        (_counted(words, _without_overlaps), "pairs are counted with overlaps: a a a a holds three a a"),
        (_counted(dict.fromkeys(words, 1)), "a word that occurs seven times counts seven times"),
    ):
        if counts[pair] == max(counts.values()):
            return hint
    counts = _counted(words)
    if pair == max(counts):
        return "this is the greatest pair by its bytes, not the most frequent one"
    return "this is the least frequent pair" if counts[pair] == min(counts.values()) else ""


def _counted(words: Mapping[Word, int], pairs_of: Callable[[Word], Iterable[Pair]] = pairwise) -> Counter[Pair]:
    """How often each pair occurs, all pairs of neighbours counted."""
    counts: Counter[Pair] = Counter()
    for word, times in words.items():
        for pair in pairs_of(word):
            counts[pair] += times
    return counts


def _without_overlaps(word: Word) -> Iterator[Pair]:
    """The pairs of a word, of a run of equal tokens only every second one."""
    run = 0
    for pair in pairwise(word):
        run = run + 1 if pair[0] == pair[1] else 0
        if run % 2 or not run:
            yield pair


def single_bytes(word: bytes) -> Word:
    """b"abc" -> (b"a", b"b", b"c")."""
    return tuple(bytes([byte]) for byte in word)


def _joined(words: Mapping[Word, int], pair: Pair) -> dict[Word, int]:
    """Every word with `pair` made one token, from left to right, without overlap."""
    after: dict[Word, int] = {}
    for word, times in words.items():
        tokens: list[bytes] = []
        place = 0
        while place < len(word):
            size = 2 if word[place : place + 2] == pair else 1
            tokens.append(b"".join(word[place : place + size]))
            place += size
        after[tuple(tokens)] = after.get(tuple(tokens), 0) + times
    return after


def _shown(pair: Pair) -> str:
    return f"{pair[0]!r} + {pair[1]!r}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


# ------------------------------------------------------------------ reading what came back


def vocabulary_and_merges(got: Any) -> tuple[dict[int, bytes], list[Pair]]:
    """What `train_bpe` returned, as a dict from ids to bytes and a list of pairs; lists may be tuples.

    Raises:
        Mismatch: saying what is there instead.
    """
    if not isinstance(got, (tuple, list)) or len(cast("Sequence[Any]", got)) != 2:
        raise Mismatch("result", "the 2 values (vocab, merges)", describe(got))
    vocab, merges = cast("Sequence[Any]", got)
    if isinstance(vocab, (list, tuple)):
        vocab = dict(enumerate(cast("Sequence[Any]", vocab)))
    if not isinstance(vocab, dict):
        raise Mismatch("vocab", "a dict from ids to bytes", describe(vocab))
    for number, token in cast("dict[Any, Any]", vocab).items():
        if type(number) is not int or not isinstance(token, bytes):
            raise Mismatch("vocab", "a dict from ids to bytes", f"{number!r}: {token!r}"[:80])
    if not isinstance(merges, (list, tuple)):
        raise Mismatch("merges", "a list of pairs of bytes", describe(merges))
    return cast("dict[int, bytes]", vocab), [_pair(each, i) for i, each in enumerate(cast("Sequence[Any]", merges))]


def _pair(value: Any, number: int) -> Pair:
    if isinstance(value, (tuple, list)):
        parts = cast("Sequence[Any]", value)
        if len(parts) == 2 and all(isinstance(part, bytes) and part for part in parts):
            return parts[0], parts[1]
    raise Mismatch(f"merges[{number}]", "a pair of bytes", f"{value!r}"[:80])
