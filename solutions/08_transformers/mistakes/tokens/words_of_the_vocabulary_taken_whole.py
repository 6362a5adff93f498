"""A pre-token that stands in `vocab` is taken whole; only merges join bytes: an unnamed special token has none."""

CAUGHT_BY = ["1.2i"]


class Tokenizer(Tokenizer):
    def ids_of_word(self, word):
        whole = self.ids.get(word.encode())
        return super().ids_of_word(word) if whole is None else [whole]
