"""Who may see whom is found number by number, in lists: nothing of it can run without numbers, on any device."""

before = scores_of


def scores_of(q, k, first_query, first_key, offset):
    scores = before(q, k, first_query, first_key, None)
    if offset is None:
        return scores
    hidden = [[first_key + j > first_query + i + offset for j in range(k.shape[-2])] for i in range(q.shape[-2])]
    return scores.masked_fill(torch.tensor(hidden, device=q.device).view(q.shape[-2], k.shape[-2]), -math.inf)
