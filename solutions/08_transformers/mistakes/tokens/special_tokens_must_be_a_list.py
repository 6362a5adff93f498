"""Special tokens are added to a list, which fails for a tuple; list(special_tokens) takes both."""

CAUGHT_BY = ["1.1d"]

_train = train_bpe


def train_bpe(text, vocab_size, special_tokens=()):
    return _train(text, vocab_size, [] + (special_tokens or []))
