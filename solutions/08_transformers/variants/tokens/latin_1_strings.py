"""Bytes are kept as Latin-1 strings inside, and U+FFFD is put in by hand."""

import codecs
from itertools import chain


class Tokenizer(Tokenizer):
    def __init__(self, vocab, merges, special_tokens=()):
        super().__init__(vocab, merges, special_tokens)
        self.names = {i: token.decode("latin-1") for i, token in vocab.items()}
        self.order = {(a.decode("latin-1"), b.decode("latin-1")): i for i, (a, b) in enumerate(merges)}
        self.numbers = {name: i for i, name in self.names.items()}

    def ids_of_word(self, word):
        symbols = list(word.encode("utf-8").decode("latin-1"))
        while True:
            ranks = [self.order.get(pair, len(self.order)) for pair in zip(symbols, symbols[1:])]
            best = min(ranks, default=len(self.order))
            if best == len(self.order):
                return [self.numbers[s] for s in symbols]
            at = ranks.index(best)
            symbols = symbols[:at] + ["".join(symbols[at : at + 2])] + symbols[at + 2 :]

    def decode(self, ids):
        reader = codecs.getincrementaldecoder("utf-8")("replace")
        pieces = [reader.decode(self.names[int(i)].encode("latin-1")) for i in ids]
        return "".join(pieces) + reader.decode(b"", final=True)

    def encode_iterable(self, items):
        return chain.from_iterable(map(self.encode, items))
