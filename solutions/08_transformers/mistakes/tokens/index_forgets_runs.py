"""The counts kept up to date subtract a pair once a word, though a word can hold it several times."""

CAUGHT_BY = ["1.1f"]

class PairCounts(PairCounts):
    def _remove(self, word):
        for pair in set(pairwise(self.tokens[word])):
            self.counts[pair] -= self.times[word]
            if self.counts[pair] <= 0:
                del self.counts[pair]
