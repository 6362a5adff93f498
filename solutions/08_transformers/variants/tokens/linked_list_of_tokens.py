"""The text is one linked list of tokens with cuts, and an index from pairs to the places where they begin."""

from collections import defaultdict


def train_bpe(text, vocab_size, special_tokens=()):
    room = vocab_size - 256 - len(special_tokens)
    if room < 0:
        raise ValueError("vocab_size < 256 + len(special_tokens)")
    tokens, after, before = [], [], []
    for piece in cut_out(special_tokens, text)[::2]:
        for word in PATTERN.findall(piece):
            data = word.encode("utf-8")
            for i, byte in enumerate(data):
                before.append(len(tokens) - 1 if i else -1)
                after.append(len(tokens) + 1 if i < len(data) - 1 else -1)
                tokens.append(bytes((byte,)))
    places = defaultdict(set)
    for i, j in enumerate(after):
        if j >= 0:
            places[tokens[i], tokens[j]].add(i)

    def drop(i):
        if i >= 0 and after[i] >= 0:
            places[tokens[i], tokens[after[i]]].discard(i)

    def add(i):
        if i >= 0 and after[i] >= 0:
            places[tokens[i], tokens[after[i]]].add(i)

    merges = []
    for _ in range(room):
        pair = max(places, key=lambda p: len(places[p]), default=None)
        if pair is None or not places[pair]:
            break
        merges.append(pair)
        for i in sorted(places[pair]):
            j = after[i]
            if j < 0 or (tokens[i], tokens[j]) != pair:
                continue
            drop(before[i]), drop(i), drop(j)
            tokens[i] = pair[0] + pair[1]
            tokens[j] = b""
            after[i] = after[j]
            if after[j] >= 0:
                before[after[j]] = i
            after[j] = -1
            add(before[i]), add(i)
    vocab = {i: bytes((i,)) for i in range(256)}
    vocab.update((256 + i, s.encode()) for i, s in enumerate(special_tokens))
    vocab.update(enumerate((a + b for a, b in merges), start=256 + len(special_tokens)))
    return vocab, merges
