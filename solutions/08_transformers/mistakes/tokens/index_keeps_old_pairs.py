"""Pairs that a merge has broken up keep their counts; a merge also takes pairs away."""

CAUGHT_BY = ["1.1a"]

class PairCounts(PairCounts):
    def join(self, pair):
        for word in self.holders.pop(pair):
            before = set(pairwise(self.tokens[word]))
            self.tokens[word] = join_pair(self.tokens[word], pair, pair[0] + pair[1])
            for each in pairwise(self.tokens[word]):
                if each not in before:
                    self.counts[each] += self.times[word]
                    self.holders[each].add(word)
        del self.counts[pair]
