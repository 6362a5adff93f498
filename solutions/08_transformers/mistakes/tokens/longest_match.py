"""Each word is cut into the longest tokens of the vocabulary; tokens are joined in the order of the merges."""

CAUGHT_BY = ["1.2a"]

class Tokenizer(Tokenizer):
    def ids_of_word(self, word):
        word, ids, start = word.encode(), [], 0
        while start < len(word):
            end = max(e for e in range(start + 1, len(word) + 1) if word[start:e] in self.ids)
            ids.append(self.ids[word[start:end]])
            start = end
        return ids
