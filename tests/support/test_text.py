"""The trainer oracle: every legal choice passes, and what is none is told with its counts."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.testing.mismatch import Mismatch
from support.text import (
    assert_merged_within_words,
    assert_trained,
    assert_vocabulary,
    single_bytes,
    vocabulary_and_merges,
    words_of,
)

Pair = tuple[bytes, bytes]


def joined(word: tuple[bytes, ...], pair: Pair) -> tuple[bytes, ...]:
    for i in range(len(word) - 1):
        if word[i : i + 2] == pair:
            return (*word[:i], pair[0] + pair[1], *joined(word[i + 2 :], pair))
    return word


def legal(text: str, merges: int, seed: int) -> tuple[dict[int, bytes], list[Pair]]:
    """Training that picks any of the most frequent pairs."""
    choice = random.Random(seed)
    made: list[Pair] = []
    words = {single_bytes(word): times for word, times in words_of(text).items()}
    while len(made) < merges:
        counts: Counter[Pair] = Counter()
        for word, times in words.items():
            for pair in pairwise(word):
                counts[pair] += times
        if not counts:
            break
        most = max(counts.values())
        made.append(choice.choice(sorted(pair for pair, count in counts.items() if count == most)))
        words = {joined(word, made[-1]): times for word, times in words.items()}
    return dict(enumerate([*single_bytes(bytes(range(256))), *(a + b for a, b in made)])), made


def mismatch(call: Any, *args: Any) -> Mismatch:
    with pytest.raises(Mismatch) as caught:
        call(*args)
    return caught.value


@settings(max_examples=500, deadline=None)
@given(st.text("aab ", max_size=50), st.integers(0, 20), st.integers(0, 10**6))
def test_any_choice_among_the_most_frequent_pairs_passes(text: str, merges: int, seed: int) -> None:
    got = legal(text, merges, seed)
    assert_trained(got, text, 256 + merges)
    assert_merged_within_words(got, text, 256 + merges)
    assert_vocabulary(got)


def test_legal_choices_end_after_different_numbers_of_merges() -> None:
    lengths = {len(legal("aab bc abbb", 100, seed)[1]) for seed in range(40)}
    assert lengths == {7, 8}


def test_a_pair_that_is_not_most_frequent_is_told_with_both_counts() -> None:
    told = mismatch(assert_trained, ({}, [(b"w", b"e")]), "low low lower", 257)
    assert told.what == "merge 1"
    assert told.expected == "a pair that occurs 3 times, such as b'l' + b'o'"
    assert told.got == "b'w' + b'e', which occurs once"


@pytest.mark.parametrize(
    ("text", "pair", "hint"),
    [
        ("aaaaaa bb xbb ybb zbb", (b"b", b"b"), "pairs are counted with overlaps: a a a a holds three a a"),
        ("ab ab ab ab cd xcd ycd", (b"c", b"d"), "a word that occurs seven times counts seven times"),
        (
            "a b a b",
            (b"a", b" "),
            "no pre-token holds these bytes side by side: a pair reaches neither into the next one nor into a "
            "special token",
        ),
    ],
)
def test_the_hint_names_what_was_counted_instead(text: str, pair: Pair, hint: str) -> None:
    assert mismatch(assert_trained, ({}, [pair]), text, 257).hint == hint


def test_a_pair_that_an_earlier_merge_has_used_up_is_not_told_as_one_across_words() -> None:
    told = mismatch(assert_trained, ({}, [(b"a", b"b"), (b"b", b"c")]), "abc abc", 258)
    assert told.hint.startswith("the bytes stand in a word, but no longer as these two tokens")


def test_stopping_early_is_told_with_a_pair_that_is_left() -> None:
    told = mismatch(assert_trained, ({}, [(b"a", b"b")]), "abc", 300)
    assert told.got == "1 merges, after which b'ab' + b'c' occurs once"


def test_stopping_when_no_pair_is_left_passes() -> None:
    assert_trained(({}, [(b"a", b"b")]), "ab", 300)


def test_going_on_when_no_pair_is_left_is_told() -> None:
    told = mismatch(assert_trained, ({}, [(b"a", b"b"), (b"a", b"b")]), "ab", 300)
    assert (told.what, told.expected) == ("merge 2", "no merge: no pair is left")


def test_too_many_merges_are_told() -> None:
    assert mismatch(assert_trained, ({}, [(b"a", b"b"), (b"ab", b"c")]), "abc", 257).got == "2 merges"


def test_a_wrong_count_does_not_fail_the_question_where_text_is_cut() -> None:
    assert_merged_within_words(({}, [(b"w", b"e")]), "low low lower", 257)
    told = mismatch(assert_merged_within_words, ({}, [(b"w", b" ")]), "low low lower", 257)
    assert told.expected == "two neighbours in one pre-token"


def test_special_tokens_cut_the_longest_first() -> None:
    assert words_of("ab<s>cab", ["<s>", "<s>c"]) == {b"ab": 2}
    assert words_of("a.b", ["."]) == {b"a": 1, b"b": 1}


def test_the_vocabulary_is_named_where_it_differs() -> None:
    vocab, merges = legal("ab", 1, 0)
    vocab[256] = b"ba"
    told = mismatch(assert_vocabulary, (vocab, merges))
    assert (told.what, told.expected, told.got) == ("vocab[256]", "b'ab'", "b'ba'")
    assert mismatch(assert_vocabulary, ({**legal("ab", 1, 0)[0], 300: b"x"}, merges)).got == "258 ids"


def test_lists_and_tuples_are_read_alike() -> None:
    assert vocabulary_and_merges([(b"a", b"b"), ([b"a", b"b"],)]) == ({0: b"a", 1: b"b"}, [(b"a", b"b")])


@pytest.mark.parametrize(
    "got",
    [
        None,
        ({}, [], []),
        (3, []),
        ({b"a": 0}, []),
        ({0: "a"}, []),
        ({0.5: b"a"}, []),
        ({}, {(b"a", b"b"): 0}),
        ({}, [(97, 98)]),
        ({}, [(b"a", b"b", b"c")]),
        ({}, [(b"", b"a")]),
        ({}, [b"ab"]),
    ],
)
def test_what_is_no_vocabulary_with_merges_is_one_sentence(got: Any) -> None:
    assert mismatch(assert_trained, got, "ab", 257).expected
