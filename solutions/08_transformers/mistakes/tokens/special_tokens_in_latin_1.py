"""Special tokens are put into the vocabulary in Latin-1, and not in UTF-8."""

CAUGHT_BY = ["1.1b"]

_train = train_bpe


def train_bpe(text, vocab_size, special_tokens=()):
    vocab, merges = _train(text, vocab_size, special_tokens)
    for place, special in enumerate(special_tokens):
        vocab[256 + place] = special.encode("latin-1", "ignore")
    return vocab, merges
