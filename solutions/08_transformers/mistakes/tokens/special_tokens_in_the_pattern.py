"""Special tokens and PATTERN are one pattern, so that a space before a special token sees what comes after."""

CAUGHT_BY = ["1.2g"]

class Tokenizer(Tokenizer):
    def encode(self, text):
        special = "|".join(map(regex.escape, sorted(self.special_tokens, key=len, reverse=True)))
        pattern = regex.compile(r"\s+(?=" + special + r")|" + special + "|" + PATTERN.pattern) if special else PATTERN
        ids = []
        for word in pattern.findall(text):
            ids += [self.ids[word.encode()]] if word in self.special_tokens else self.word_ids[word]
        return ids
