"""The vocabulary maps bytes to ids; it maps ids to bytes."""

CAUGHT_BY = ["1.1b"]

_train = train_bpe


def train_bpe(text, vocab_size, special_tokens=()):
    vocab, merges = _train(text, vocab_size, special_tokens)
    return {token: i for i, token in vocab.items()}, merges
