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
    raise NotImplementedError


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
        raise NotImplementedError

    def encode(self, text: str) -> list[int]:
        """The ids of `text`.

        Special tokens are found first, from left to right, the longest that matches; each is one id. What is between
        them is cut by `PATTERN`, and in each pre-token pairs are joined in the order of `merges`, until none is left.

        Raises:
            ValueError: when `text` is no text but holds half a surrogate pair. (UnicodeEncodeError is one.)
        """
        raise NotImplementedError

    def decode(self, ids: Iterable[int]) -> str:
        """The text of `ids`.

        Args:
            ids: integers: a list, a tuple, a one-dimensional array or tensor.

        Returns:
            The bytes of all ids together, read as UTF-8. What is none becomes U+FFFD.

        Raises:
            LookupError: for an id that is not in `vocab`. (KeyError and IndexError are.)
        """
        raise NotImplementedError

    def encode_iterable(self, items: Iterable[str]) -> Iterator[int]:
        """The ids of each item, one after the other: what encode(item) gives, for items that never end.

        Args:
            items: texts, each a document of its own.

        Returns:
            An iterator. It takes an item when the ids of those before it are used up, and never holds more than one.
        """
        raise NotImplementedError


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
    raise NotImplementedError


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
    raise NotImplementedError


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
    raise NotImplementedError
