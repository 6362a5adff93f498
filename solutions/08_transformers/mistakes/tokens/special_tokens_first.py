"""Special tokens get the first ids; bytes come first, so that byte b has id b."""

CAUGHT_BY = ["1.1b"]

_train = train_bpe


def train_bpe(text, vocab_size, special_tokens=()):
    vocab, merges = _train(text, vocab_size, special_tokens)
    tokens = [s.encode() for s in special_tokens] + [bytes([b]) for b in range(256)] + [a + b for a, b in merges]
    return dict(enumerate(tokens)), merges
