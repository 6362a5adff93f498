"""Training puts a question mark in place of half a surrogate pair: that is no text, and an error."""

CAUGHT_BY = ["1.1i"]

_train = train_bpe


def train_bpe(text, vocab_size, special_tokens=()):
    return _train(text.encode(errors="replace").decode(), vocab_size, special_tokens)
