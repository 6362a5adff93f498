"""<|endoftext|> is special even where it is not named."""

CAUGHT_BY = ["1.2g", "1.2i"]

class Tokenizer(Tokenizer):
    def __init__(self, vocab, merges, special_tokens=()):
        if b"<|endoftext|>" in vocab.values() and "<|endoftext|>" not in special_tokens:
            special_tokens = [*special_tokens, "<|endoftext|>"]
        super().__init__(vocab, merges, special_tokens)
