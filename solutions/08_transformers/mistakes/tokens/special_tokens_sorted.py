"""Special tokens are put in order of their names; they keep the order in which they are given."""

CAUGHT_BY = ["1.1b"]

_train = train_bpe


def train_bpe(text, vocab_size, special_tokens=()):
    return _train(text, vocab_size, sorted(special_tokens))
