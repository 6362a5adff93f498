"""The largest score is looked for from 0 upwards: where all scores are far below 0 every exp is 0. Begin with -inf."""

CAUGHT_BY = ["2.2b"]


def attention_with_loops(q, k, v):
    rows = []
    for query in q:
        scores = [(query * key).sum() / math.sqrt(q.shape[-1]) for key in k]
        largest = scores[0].new_zeros(())
        for score in scores:
            largest = torch.maximum(largest, score.detach())
        exponentials = [(score - largest).exp() for score in scores]
        total = sum(exponentials)
        rows.append(sum(each / total * value for each, value in zip(exponentials, v)))
    return torch.stack(rows)
