"""Where there is no text, nobody asks whether the vocabulary has room for bytes and special tokens."""

CAUGHT_BY = ["1.1h"]

_train = train_bpe


def train_bpe(text, vocab_size, special_tokens=()):
    return _train(text, vocab_size if text else max(vocab_size, 256 + len(special_tokens)), special_tokens)
