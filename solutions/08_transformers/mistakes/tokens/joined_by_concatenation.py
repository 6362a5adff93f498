"""Neighbours are joined when their bytes together are those of the pair, as a + bc are for ab + c; the pair itself must match."""

CAUGHT_BY = ["1.1d"]

def join_same_bytes(word, pair):
    joined, i = [], 0
    while i < len(word):
        if i + 1 < len(word) and sorted(word[i] + word[i + 1]) == sorted(pair[0] + pair[1]):
            joined.append(pair[0] + pair[1])
            i += 2
        else:
            joined.append(word[i])
            i += 1
    return joined



import regex
from collections import Counter


def train_bpe(text, vocab_size, special_tokens=()):
    room = vocab_size - 256 - len(special_tokens)
    if room < 0:
        raise ValueError("no room")
    words = [[bytes([b]) for b in word] for word in [w.encode() for piece in cut_out(special_tokens, text)[::2] for w in PATTERN.findall(piece)]]
    merges = []
    while len(merges) < room:
        counts = Counter()
        for word in words:
            counts.update(zip(word, word[1:]))
        if not counts:
            break
        pair = max(counts, key=counts.get)
        merges.append(pair)
        words = [join_same_bytes(word, pair) for word in words]
    vocab = {i: bytes([i]) for i in range(256)}
    for special in special_tokens:
        vocab[len(vocab)] = special.encode()
    for first, second in merges:
        vocab[len(vocab)] = first + second
    return vocab, merges
