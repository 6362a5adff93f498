"""train_bpe and encode written with re-like scanning of special tokens, and words counted over sorted pieces."""

from collections import Counter


def _pieces(text, special_tokens):
    """(piece, whether it is special), by scanning for the leftmost and longest special token."""
    while text:
        hits = [(text.find(s), -len(s), s) for s in special_tokens if s in text]
        if not hits:
            yield text, False
            return
        at, _, special = min(hits)
        if at:
            yield text[:at], False
        yield special, True
        text = text[at + len(special) :]


def count_words(text, special_tokens):
    words = Counter()
    for piece, special in _pieces(text, special_tokens):
        if not special:
            words.update(w.encode("utf-8") for w in PATTERN.findall(piece))
    return Counter(dict(sorted(words.items())))


class Tokenizer(Tokenizer):
    def encode(self, text):
        ids = []
        for piece, special in _pieces(text, self.special_tokens):
            if special:
                ids += [self.ids[piece.encode("utf-8")]]
            else:
                ids += [i for w in PATTERN.findall(piece) for i in self.ids_of_word(w)]
        return ids
