"""A heap holds pairs by count; entries that are out of date are put back with the count of today."""

import heapq
from collections import Counter, defaultdict


def train_bpe(text, vocab_size, special_tokens=()):
    special_tokens = list(special_tokens)
    if vocab_size < 256 + len(special_tokens):
        raise ValueError(f"{vocab_size} is too small")
    separator = regex.compile("|".join(regex.escape(s) for s in sorted(special_tokens, key=lambda s: -len(s))) or r"(?!)")
    frequency = Counter()
    position = 0
    for cut in [*separator.finditer(text), None]:
        end = len(text) if cut is None else cut.start()
        frequency.update(PATTERN.findall(text[position:end]))
        position = end if cut is None else cut.end()
    words = [([bytes([b]) for b in word.encode()], times) for word, times in frequency.items()]
    counts, where = defaultdict(int), defaultdict(set)
    for w, (tokens, times) in enumerate(words):
        for pair in zip(tokens, tokens[1:]):
            counts[pair] += times
            where[pair].add(w)
    heap = [(-count, pair) for pair, count in counts.items()]
    heapq.heapify(heap)
    merges = []
    while heap and len(merges) < vocab_size - 256 - len(special_tokens):
        count, pair = heapq.heappop(heap)
        if counts[pair] != -count:
            if counts[pair]:
                heapq.heappush(heap, (-counts[pair], pair))
            continue
        merges.append(pair)
        changed = set()
        for w in list(where[pair]):
            tokens, times = words[w]
            for old in zip(tokens, tokens[1:]):
                counts[old] -= times
            new, i = [], 0
            while i < len(tokens):
                step = 2 if tuple(tokens[i : i + 2]) == pair else 1
                new.append(b"".join(tokens[i : i + step]))
                i += step
            for fresh in zip(new, new[1:]):
                counts[fresh] += times
                where[fresh].add(w)
                changed.add(fresh)
            words[w] = (new, times)
        for fresh in changed:
            heapq.heappush(heap, (-counts[fresh], fresh))
    vocab = [bytes([b]) for b in range(256)] + [s.encode() for s in special_tokens] + [a + b for a, b in merges]
    return {i: token for i, token in enumerate(vocab)}, merges
