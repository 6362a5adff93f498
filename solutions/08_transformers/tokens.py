"""Part 1: tokens. Text, images and time series all become sequences of units, and one architecture reads them all.

Text becomes pieces of words by byte-pair encoding: begin with single bytes, and join the most frequent pair of
neighbours into a new token, again and again. Images become patches, time series become windows. What is *not* in
here: turning tokens into vectors (that is a table to look up or a linear layer), and where a token stands (part 3).

Sources: Sennrich et al., Neural Machine Translation of Rare Words with Subword Units, 2016 (arXiv:1508.07909);
Radford et al., Language Models are Unsupervised Multitask Learners (GPT-2), 2019, section 2.2, for bytes and for the
pattern; Dosovitskiy et al., An Image is Worth 16x16 Words, 2021, section 3.1 (arXiv:2010.11929).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import TypeVar

import regex
from torch import Tensor

Pair = tuple[bytes, bytes]

PATTERN = regex.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
"""GPT-2's pre-tokenisation: PATTERN.findall("it's 9 o'clock") is ["it", "'s", " 9", " o", "'", "clock"].

Its pieces, the pre-tokens, put together are the text again. No token spans two of them.
"""


# BEGIN SOLUTION
Token = TypeVar("Token")

NO_RANK = 2**62  # of a pair that was never merged: after every rank
LONG = 1000  # bytes; few pre-tokens have more than twenty


def cut_out(special_tokens: Sequence[str], text: str) -> list[str]:
    """Text, special token, text, special token, ..., text: every second piece is a special token."""
    if not special_tokens:
        return [text]  # an empty pattern would match between any two characters
    longest_first = sorted(special_tokens, key=len, reverse=True)
    return regex.split("(" + "|".join(map(regex.escape, longest_first)) + ")", text)


def count_words(text: str, special_tokens: Sequence[str]) -> Counter[bytes]:
    """How often each pre-token occurs. What training needs to know of a text is this and no more."""
    pieces = cut_out(special_tokens, text)[::2]
    words = Counter(word for piece in pieces for word in PATTERN.findall(piece))
    return Counter({word.encode(): times for word, times in words.items()})


def single_bytes(word: bytes) -> list[bytes]:
    """b"abc" -> [b"a", b"b", b"c"]."""
    return [word[i : i + 1] for i in range(len(word))]


def join_pair(tokens: Iterable[Token], pair: tuple[Token, Token], joined: Token) -> list[Token]:
    """Put `joined` in place of each occurrence of `pair`, from left to right and without overlap: a a a -> aa a."""
    first, second = pair
    after: list[Token] = []
    for token in tokens:
        if token == second and after and after[-1] == first:
            after[-1] = joined
        else:
            after.append(token)
    return after


class PairCounts:
    """How often each pair of neighbours occurs in the words of a text, up to date while pairs are joined.

    To join a pair, only the words that hold it need to be looked at: that is why this is fast. Counting everything
    anew after each merge gives the same counts.
    """

    def __init__(self, words: Mapping[bytes, int]) -> None:
        self.times = list(words.values())
        self.tokens = [single_bytes(word) for word in words]
        self.counts: Counter[Pair] = Counter()
        self.holders: defaultdict[Pair, set[int]] = defaultdict(set)  # the words that hold a pair, or once held it
        for word in range(len(self.tokens)):
            self._add(word)

    def most_frequent(self) -> Pair:
        """A pair of the highest count; of several, the greatest in the order of bytes."""
        highest = max(self.counts.values())
        return max(pair for pair, count in self.counts.items() if count == highest)

    def join(self, pair: Pair) -> None:
        """Make one token of `pair`, in every word."""
        for word in self.holders.pop(pair):
            self._remove(word)
            self.tokens[word] = join_pair(self.tokens[word], pair, pair[0] + pair[1])
            self._add(word)

    def _add(self, word: int) -> None:
        for pair in pairwise(self.tokens[word]):
            self.counts[pair] += self.times[word]
            self.holders[pair].add(word)

    def _remove(self, word: int) -> None:
        for pair in pairwise(self.tokens[word]):
            self.counts[pair] -= self.times[word]
            if not self.counts[pair]:
                del self.counts[pair]


class WordIds(dict[str, list[int]]):
    """The ids of pre-tokens, worked out when they are first asked for and kept, since most words come again.

    What is kept is bounded: short words, and so many of them.
    """

    def __init__(self, ids_of_word: Callable[[str], list[int]], most: int = 1 << 16, longest: int = 64) -> None:
        super().__init__()
        self.ids_of_word, self.most, self.longest = ids_of_word, most, longest

    def __missing__(self, word: str) -> list[int]:
        ids = self.ids_of_word(word)
        if len(word) <= self.longest:
            if len(self) == self.most:
                self.clear()
            self[word] = ids
        return ids


# END SOLUTION


def train_bpe(
    text: str, vocab_size: int, special_tokens: Sequence[str] = ()
) -> tuple[dict[int, bytes], list[tuple[bytes, bytes]]]:
    """Learn which pairs of tokens to merge: byte-pair encoding.

    Args:
        text: what to learn from. It is cut at special tokens (the longest that matches wins) and then by `PATTERN`;
            no pair reaches across a cut.
        vocab_size: how many tokens to have in the end, bytes and special tokens included. Training ends earlier when
            no pair is left.
        special_tokens: strings that each are one token, whatever they are made of; different, and not empty.

    Returns:
        vocab: from id to bytes. The 256 single bytes (byte b has id b), the special tokens in UTF-8, in their order,
            then what each merge made, in order.
        merges: the pairs, in the order in which they were merged. Each is a pair of neighbours that occurs most often
            at that time, of several any. Pairs are counted with overlaps (a a a a holds three a a) and joined from left
            to right without (a a a becomes aa a).

    Raises:
        ValueError: when `vocab_size` has no room for the bytes and the special tokens, or when `text` is no text, as
            in `encode`.

    Example: train_bpe("low low lower", 258) merges (b"o", b"w") or (b"l", b"o"), which occur three times each; after
        (b"o", b"w") it merges (b"l", b"ow").
    """
    # BEGIN SOLUTION
    room = vocab_size - 256 - len(special_tokens)
    if room < 0:
        raise ValueError(
            f"a vocabulary of {vocab_size} has no room for 256 bytes and {len(special_tokens)} special tokens"
        )
    pairs = PairCounts(count_words(text, special_tokens))
    merges: list[Pair] = []
    while pairs.counts and len(merges) < room:
        merges.append(pairs.most_frequent())
        pairs.join(merges[-1])
    tokens = [*single_bytes(bytes(range(256))), *(special.encode() for special in special_tokens)]
    tokens += [first + second for first, second in merges]
    return dict(enumerate(tokens)), merges
    # END SOLUTION


class Tokenizer:
    """Text to ids and back, by the merges of one training.

    Args:
        vocab: from id to bytes; every byte, special token and merge is in it. Ids may be in any order.
        merges: pairs of bytes, those merged first in training first.
        special_tokens: those of the special tokens in `vocab` that are to be special here.

    Example: with merges [(b"t", b"h"), (b"th", b"e")] in that order and "the" = 257 in `vocab`, encode("the") is [257],
        and encode("thin") is [256, 105, 110].
    """

    def __init__(
        self, vocab: Mapping[int, bytes], merges: Sequence[tuple[bytes, bytes]], special_tokens: Sequence[str] = ()
    ) -> None:
        # BEGIN SOLUTION
        self.vocab = dict(vocab)
        self.ids = {token: id for id, token in vocab.items()}
        self.special_tokens = tuple(special_tokens)
        self.byte_ids = [self.ids[byte] for byte in single_bytes(bytes(range(256)))]
        # The merge of rank r, counted from 0, joins the two ids self.pairs[r] to the id self.joined[r].
        self.pairs = [(self.ids[first], self.ids[second]) for first, second in merges]
        self.joined = [self.ids[first + second] for first, second in merges]
        self.ranks = {pair: rank for rank, pair in enumerate(self.pairs)}
        self.word_ids = WordIds(self.ids_of_word)
        # END SOLUTION

    def encode(self, text: str) -> list[int]:
        """The ids of `text`.

        Special tokens are found first, from left to right, the longest that matches; each is one id. What is between
        them is cut by `PATTERN`, and in each pre-token pairs are joined in the order of `merges`, until none is left.

        Raises:
            ValueError: when `text` is no text but holds half a surrogate pair. (UnicodeEncodeError is one.)
        """
        # BEGIN SOLUTION
        ids: list[int] = []
        for place, piece in enumerate(cut_out(self.special_tokens, text)):
            if place % 2:
                ids.append(self.ids[piece.encode()])
            else:
                ids += chain.from_iterable(map(self.word_ids.__getitem__, PATTERN.findall(piece)))
        return ids
        # END SOLUTION

    def decode(self, ids: Iterable[int]) -> str:
        """The text of `ids`.

        Args:
            ids: integers: a list, a tuple, a one-dimensional array or tensor.

        Returns:
            The bytes of all ids together, read as UTF-8. What is none becomes U+FFFD.

        Raises:
            LookupError: for an id that is not in `vocab`. (KeyError and IndexError are.)
        """
        # BEGIN SOLUTION
        return b"".join(self.vocab[int(id)] for id in ids).decode(errors="replace")
        # END SOLUTION

    def encode_iterable(self, items: Iterable[str]) -> Iterator[int]:
        """The ids of each item, one after the other: what encode(item) gives, for items that never end.

        Args:
            items: texts, each a document of its own.

        Returns:
            An iterator. It takes an item when the ids of those before it are used up, and never holds more than one.
        """
        # BEGIN SOLUTION
        for item in items:
            yield from self.encode(item)
        # END SOLUTION

    # BEGIN SOLUTION
    def ids_of_word(self, word: str) -> list[int]:
        """The ids of one pre-token: what was merged first in training is joined first."""
        ids = [self.byte_ids[byte] for byte in word.encode()]
        return self.join_one_by_one(ids) if len(ids) < LONG else self.join_pair_by_pair(ids)

    def join_one_by_one(self, ids: list[int]) -> list[int]:
        """Join the pair of the lowest rank, the leftmost of several, until no pair has a rank.

        A join changes the pairs to its left and to its right and no other, so only these are looked up again: that is
        why this is fast. It looks for the lowest rank and moves what comes after it, so a long row needs another way.
        """
        ranks = [self.ranks.get(pair, NO_RANK) for pair in pairwise(ids)]
        while ranks and (rank := min(ranks)) < NO_RANK:
            place = ranks.index(rank)
            ids[place] = self.joined[rank]
            del ids[place + 1], ranks[place]
            if place > 0:
                ranks[place - 1] = self.ranks.get((ids[place - 1], ids[place]), NO_RANK)
            if place < len(ranks):
                ranks[place] = self.ranks.get((ids[place], ids[place + 1]), NO_RANK)
        return ids

    def join_pair_by_pair(self, ids: list[int]) -> list[int]:
        """The same in rounds: each joins one pair wherever it occurs, as training does."""
        while known := self.ranks.keys() & pairwise(ids):
            rank = min(map(self.ranks.__getitem__, known))
            ids = join_pair(ids, self.pairs[rank], self.joined[rank])
        return ids

    # END SOLUTION


# BEGIN SOLUTION
def require_whole_patches(height: int, width: int, patch: int) -> None:
    """Raises `ValueError` when patches of that size do not tile the image."""
    if height % patch or width % patch:
        raise ValueError(f"an image of {height} x {width} cannot be cut into patches of {patch} x {patch}")


# END SOLUTION


def patchify(images: Tensor, patch: int) -> Tensor:
    """Cut images into square patches, the tokens of a picture.

    Args:
        images: (B, C, H, W).
        patch: height and width of a patch.

    Returns:
        (B, N, patch * patch * C), N = (H / patch) * (W / patch). Patches come row by row; in a patch the pixels come
        row by row, and the channels of a pixel stand side by side.

    Raises:
        ValueError: when `patch` does not divide H or W.

    Example: one image, one channel, [[1, 2, 3, 4], [5, 6, 7, 8]], patch 2: [[1, 2, 5, 6], [3, 4, 7, 8]].
    """
    # BEGIN SOLUTION
    batch, channels, height, width = images.shape
    require_whole_patches(height, width, patch)
    rows, columns = height // patch, width // patch
    grid = images.reshape(batch, channels, rows, patch, columns, patch)
    return grid.permute(0, 2, 4, 3, 5, 1).reshape(batch, rows * columns, patch * patch * channels)
    # END SOLUTION


def unpatchify(patches: Tensor, patch: int, height: int, width: int) -> Tensor:
    """Put patches together again: the inverse of `patchify`.

    Args:
        patches: (B, N, patch * patch * C), as `patchify` gives them.
        patch: height and width of a patch.
        height: H of the images.
        width: W of the images.

    Returns:
        (B, C, H, W).

    Raises:
        ValueError: when `patch` does not divide `height` or `width`.

    Example: unpatchify(patchify(images, 2), 2, 4, 6) is `images`, when these are (B, C, 4, 6).
    """
    # BEGIN SOLUTION
    require_whole_patches(height, width, patch)
    batch, rows, columns = patches.shape[0], height // patch, width // patch
    channels = patches.shape[2] // patch**2
    grid = patches.reshape(batch, rows, columns, patch, patch, channels)
    return grid.permute(0, 5, 1, 3, 2, 4).reshape(batch, channels, height, width)
    # END SOLUTION


def windows(series: Tensor, length: int, stride: int) -> Tensor:
    """Cut time series into windows, the tokens of a signal.

    Args:
        series: (B, T, C), C measurements at each of T times.
        length: how many times make a window.
        stride: how many times further the next window begins. Windows overlap when it is smaller than `length`.

    Returns:
        (B, (T - length) // stride + 1, length * C): in a window time after time, the measurements of a time side by
        side. Times at the end that fill no window are dropped.

    Raises:
        ValueError: when T is smaller than `length`.

    Example: one series, one measurement, [1, 2, 3, 4, 5, 6], length 3, stride 2: [[1, 2, 3], [3, 4, 5]].
    """
    # BEGIN SOLUTION
    if series.shape[1] < length:
        raise ValueError(f"a series of {series.shape[1]} times holds no window of {length}")
    return series.unfold(1, length, stride).transpose(2, 3).flatten(2)
    # END SOLUTION
