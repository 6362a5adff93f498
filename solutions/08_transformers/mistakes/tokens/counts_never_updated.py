"""Pairs are counted once, at the beginning; each merge changes the counts of the pairs around it."""

CAUGHT_BY = ["1.1a"]

from collections import Counter


def train_bpe(text, vocab_size, special_tokens=()):
    room = vocab_size - 256 - len(special_tokens)
    if room < 0:
        raise ValueError("no room")
    counts = Counter()
    for word, times in count_words(text, special_tokens).items():
        for pair in pairwise(single_bytes(word)):
            counts[pair] += times
    merges = [pair for pair, _ in counts.most_common(room)]
    tokens = [*single_bytes(bytes(range(256))), *(special.encode() for special in special_tokens)]
    tokens += [first + second for first, second in merges]
    return dict(enumerate(tokens)), merges
