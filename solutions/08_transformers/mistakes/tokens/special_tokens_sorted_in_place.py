"""Special tokens are sorted by length in the caller's own list: `sorted` makes a new one."""

CAUGHT_BY = ["1.1e"]

_train = train_bpe


def train_bpe(text, vocab_size, special_tokens=()):
    got = _train(text, vocab_size, special_tokens)
    if isinstance(special_tokens, list):
        special_tokens.sort(key=len, reverse=True)
    return got
