"""The vocabulary holds only bytes that occur in the text; all 256 are in it, so that any text can be written."""

CAUGHT_BY = ["1.1b"]

_train = train_bpe


def train_bpe(text, vocab_size, special_tokens=()):
    vocab, merges = _train(text, vocab_size, special_tokens)
    seen = set(text.encode())
    return {i: token for i, token in vocab.items() if i >= 256 or i in seen}, merges
