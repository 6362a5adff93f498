"""Ids are numpy integers, merges are lists of lists, and vocab is a list of bytes."""

import numpy as np

_train_bpe = train_bpe


def train_bpe(text, vocab_size, special_tokens=()):
    vocab, merges = _train_bpe(text, vocab_size, tuple(special_tokens))
    return [vocab[i] for i in range(len(vocab))], [list(pair) for pair in merges]


class Tokenizer(Tokenizer):
    def encode(self, text):
        return list(np.array(super().encode(text), dtype=np.int32))

    def decode(self, ids):
        data = b"".join(self.vocab[i] for i in np.asarray(ids, dtype=np.int64).tolist())
        return str(data, "utf-8", "replace")
