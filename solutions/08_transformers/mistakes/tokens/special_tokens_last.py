"""Special tokens come after the merges; they come before them."""

CAUGHT_BY = ["1.1b"]

_train = train_bpe


def train_bpe(text, vocab_size, special_tokens=()):
    vocab, merges = _train(text, vocab_size, special_tokens)
    tokens = [bytes([b]) for b in range(256)] + [a + b for a, b in merges] + [s.encode() for s in special_tokens]
    return dict(enumerate(tokens)), merges
