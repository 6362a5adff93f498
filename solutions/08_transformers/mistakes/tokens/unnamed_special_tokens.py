"""Tokens of `vocab` that look like <...> are special although they were not named."""

CAUGHT_BY = ["1.2g"]

class Tokenizer(Tokenizer):
    def __init__(self, vocab, merges, special_tokens=()):
        looks = [t.decode() for t in vocab.values() if t.startswith(b"<") and t.endswith(b">") and len(t) > 2]
        super().__init__(vocab, merges, [*special_tokens, *(t for t in looks if t not in special_tokens)])
