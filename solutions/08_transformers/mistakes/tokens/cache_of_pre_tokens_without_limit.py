"""Every pre-token is kept in a cache without a limit, so memory grows with the words of a stream."""

CAUGHT_BY = ["1.3b"]

class Tokenizer(Tokenizer):
    def __init__(self, vocab, merges, special_tokens=()):
        super().__init__(vocab, merges, special_tokens)
        self.word_ids = WordIds(self.ids_of_word, most=1 << 40, longest=1 << 40)
