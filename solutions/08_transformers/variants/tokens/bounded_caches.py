"""Pre-tokens by functools.lru_cache, keyed by bytes, and special tokens found one after the other by str.find."""

from functools import lru_cache


class Tokenizer(Tokenizer):
    def __init__(self, vocab, merges, special_tokens=()):
        super().__init__(vocab, merges, special_tokens)
        self.cached = lru_cache(maxsize=10_000)(lambda word: tuple(self.ids_of_word(word.decode())))

    def encode(self, text):
        ids, start = [], 0
        while True:
            found = [(text.find(special, start), -len(special), special) for special in self.special_tokens]
            found = [each for each in found if each[0] >= 0]
            end = min(found)[0] if found else len(text)
            for word in PATTERN.findall(text[start:end]):
                ids.extend(self.cached(word.encode()))
            if not found:
                return ids
            special = min(found)[2]
            ids.append(self.ids[special.encode()])
            start = end + len(special)
