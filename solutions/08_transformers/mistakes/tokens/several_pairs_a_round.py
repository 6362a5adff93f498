"""The three most frequent pairs are merged before anything is counted again; the first merge may take the others' tokens."""

CAUGHT_BY = ["1.1a"]

def train_bpe(text, vocab_size, special_tokens=()):
    room = vocab_size - 256 - len(special_tokens)
    if room < 0:
        raise ValueError("no room")
    pairs = PairCounts(count_words(text, special_tokens))
    merges = []
    while pairs.counts and len(merges) < room:
        for pair, _ in pairs.counts.most_common(min(3, room - len(merges))):
            merges.append(pair)
            if pair in pairs.holders:
                pairs.join(pair)
    tokens = [*single_bytes(bytes(range(256))), *(special.encode() for special in special_tokens)]
    tokens += [first + second for first, second in merges]
    return dict(enumerate(tokens)), merges
