"""CRLF becomes LF in encoding; decoding has to give back the same text."""

CAUGHT_BY = ["1.2b"]

class Tokenizer(Tokenizer):
    def encode(self, text):
        return super().encode(text.replace("\r\n", "\n"))
