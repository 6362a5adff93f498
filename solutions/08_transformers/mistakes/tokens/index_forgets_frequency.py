"""The counts kept up to date change by one for each word; they must change by as often as the word occurs."""

CAUGHT_BY = ["1.1a"]

class PairCounts(PairCounts):
    def join(self, pair):
        for word in self.holders.pop(pair):
            before = list(pairwise(self.tokens[word]))
            self.tokens[word] = join_pair(self.tokens[word], pair, pair[0] + pair[1])
            after = list(pairwise(self.tokens[word]))
            for each in before:
                self.counts[each] -= 1
            for each in after:
                self.counts[each] += 1
                self.holders[each].add(word)
        self.counts.pop(pair, None)
        self.counts = +self.counts
