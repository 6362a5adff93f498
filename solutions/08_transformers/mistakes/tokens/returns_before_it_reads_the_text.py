"""Where there is no room for a merge training returns before it reads the text, so half a surrogate pair passes."""

CAUGHT_BY = ["1.1i"]

_learn = train_bpe


def train_bpe(text, vocab_size, special_tokens=()):
    if vocab_size == 256 + len(special_tokens):
        return _learn("", vocab_size, special_tokens)
    return _learn(text, vocab_size, special_tokens)
