"""Two halves of a surrogate pair are joined to a character: a str that holds them is no text."""

CAUGHT_BY = ["1.1i", "1.2h"]

_train = train_bpe


def _joined(text):
    return text.encode("utf-16", "surrogatepass").decode("utf-16")


def train_bpe(text, vocab_size, special_tokens=()):
    return _train(_joined(text), vocab_size, special_tokens)


class Tokenizer(Tokenizer):
    def encode(self, text):
        return super().encode(_joined(text))
