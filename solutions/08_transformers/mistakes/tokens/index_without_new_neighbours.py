"""The pairs that a new token makes with its neighbours are never counted, so no token grows beyond two bytes."""

CAUGHT_BY = ["1.1a"]

class PairCounts(PairCounts):
    def join(self, pair):
        for word in self.holders.pop(pair):
            self._remove(word)
            self.tokens[word] = join_pair(self.tokens[word], pair, pair[0] + pair[1])
            for each in pairwise(self.tokens[word]):
                if len(each[0]) + len(each[1]) == 2:
                    self.counts[each] += self.times[word]
