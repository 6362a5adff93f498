"""A word that merges have made is its id at once; else pairs are joined one occurrence at a time. A bounded cache keeps words."""

from functools import lru_cache


class Tokenizer:
    def __init__(self, vocab, merges, special_tokens=()):
        self.token_of = {int(i): bytes(t) for i, t in vocab.items()}
        self.id_of = {t: i for i, t in self.token_of.items()}
        self.order = {tuple(m): n for n, m in enumerate(merges)}
        self.made = {a + b for a, b in merges}
        self.special = sorted(special_tokens, key=len, reverse=True)
        self.of_word = lru_cache(maxsize=4096)(self._of_word)

    def _of_word(self, data):
        if data in self.made:  # and not a special token that is not named here
            return (self.id_of[data],)
        parts = [data[i : i + 1] for i in range(len(data))]
        while len(parts) >= 2:
            ranked = [(self.order.get((a, b), float("inf")), i) for i, (a, b) in enumerate(zip(parts, parts[1:]))]
            rank, i = min(ranked)
            if rank == float("inf"):
                break
            parts[i : i + 2] = [parts[i] + parts[i + 1]]
        return tuple(self.id_of[p] for p in parts)

    def encode(self, text):
        ids, start, i = [], 0, 0
        while i < len(text):
            special = next((s for s in self.special if text.startswith(s, i)), None)
            if special is None:
                i += 1
                continue
            ids += self._ordinary(text[start:i])
            ids.append(self.id_of[special.encode()])
            i += len(special)
            start = i
        return ids + self._ordinary(text[start:])

    def _ordinary(self, text):
        return [i for m in PATTERN.finditer(text) for i in self.of_word(m.group().encode("utf-8"))]

    def decode(self, ids):
        if hasattr(ids, "tolist"):
            ids = ids.tolist()
        data = bytearray()
        for i in ids:
            data += self.token_of[i]
        return bytes(data).decode("utf-8", "replace")

    def encode_iterable(self, items):
        return (i for item in items for i in self.encode(item))
