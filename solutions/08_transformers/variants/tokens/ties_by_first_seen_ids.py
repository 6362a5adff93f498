"""Training on ids: words are lists of integers, ties go to the smallest pair of ids, and vocab is built as it goes."""

def train_bpe(text, vocab_size, special_tokens=()):
    if vocab_size < 256 + len(special_tokens):
        raise ValueError("vocab_size is too small")
    vocab = {i: bytes([i]) for i in range(256)}
    for token in special_tokens:
        vocab[len(vocab)] = token.encode("utf-8")
    pattern = "|".join(regex.escape(t) for t in sorted(special_tokens, key=len, reverse=True))
    documents = regex.split(pattern, text) if pattern else [text]
    words = [list(m.group().encode("utf-8")) for d in documents for m in PATTERN.finditer(d)]
    merges = []
    while len(vocab) < vocab_size:
        stats = {}
        for ids in words:
            for pair in zip(ids, ids[1:]):
                stats[pair] = stats.get(pair, 0) + 1
        if not stats:
            break
        pair = min(stats, key=lambda p: (-stats[p], p))
        new = len(vocab)
        merges.append((vocab[pair[0]], vocab[pair[1]]))
        vocab[new] = vocab[pair[0]] + vocab[pair[1]]
        for w, ids in enumerate(words):
            out, i = [], 0
            while i < len(ids):
                if i + 1 < len(ids) and (ids[i], ids[i + 1]) == pair:
                    out.append(new)
                    i += 2
                else:
                    out.append(ids[i])
                    i += 1
            words[w] = out
    return vocab, merges
