"""The merges are pairs of ids; they are pairs of bytes."""

CAUGHT_BY = ["1.1a"]

_train = train_bpe


def train_bpe(text, vocab_size, special_tokens=()):
    vocab, merges = _train(text, vocab_size, special_tokens)
    ids = {token: i for i, token in vocab.items()}
    return vocab, [(ids[first], ids[second]) for first, second in merges]
