"""Encoding with a heap of pairs by rank and place, over a linked list of tokens."""

import heapq


class Tokenizer(Tokenizer):
    def __init__(self, vocab, merges, special_tokens=()):
        super().__init__(vocab, merges, special_tokens)
        self.order = {(a, b): i for i, (a, b) in enumerate(merges)}

    def ids_of_word(self, word):
        tokens = [bytes([b]) for b in word.encode("utf-8")]
        following = list(range(1, len(tokens))) + [None]
        preceding = [None] + list(range(len(tokens) - 1))
        heap = []

        def push(i):
            if i is not None and following[i] is not None:
                pair = (tokens[i], tokens[following[i]])
                if pair in self.order:
                    heapq.heappush(heap, (self.order[pair], i, pair))

        for i in range(len(tokens)):
            push(i)
        while heap:
            _, i, pair = heapq.heappop(heap)
            j = following[i]
            if tokens[i] is None or j is None or (tokens[i], tokens[j]) != pair:
                continue
            tokens[i], tokens[j] = pair[0] + pair[1], None
            following[i] = following[j]
            if following[j] is not None:
                preceding[following[j]] = i
            push(i)
            push(preceding[i])
        return [self.ids[token] for token in tokens if token is not None]
