"""Only the first special token is cut out; all of them are."""

CAUGHT_BY = ["1.1e"]

import regex
from collections import Counter


def train_bpe(text, vocab_size, special_tokens=()):
    room = vocab_size - 256 - len(special_tokens)
    if room < 0:
        raise ValueError("no room")
    words = [[bytes([b]) for b in word] for word in [w.encode() for piece in cut_out(special_tokens[:1], text)[::2] for w in PATTERN.findall(piece)]]
    merges = []
    while len(merges) < room:
        counts = Counter()
        for word in words:
            counts.update(zip(word, word[1:]))
        if not counts:
            break
        pair = max(counts, key=counts.get)
        merges.append(pair)
        words = [join_pair(word, pair, pair[0] + pair[1]) for word in words]
    vocab = {i: bytes([i]) for i in range(256)}
    for special in special_tokens:
        vocab[len(vocab)] = special.encode()
    for first, second in merges:
        vocab[len(vocab)] = first + second
    return vocab, merges
