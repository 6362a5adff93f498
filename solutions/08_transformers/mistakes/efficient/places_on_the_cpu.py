"""The places of a causal chunk are made on the CPU, wherever the queries are: pass device=q.device."""

CAUGHT_BY = ["5.3f"]


def scores_of(q, k, first_query, first_key, offset):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if offset is None:
        return scores
    queries = torch.arange(first_query, first_query + q.shape[-2])
    keys = torch.arange(first_key, first_key + k.shape[-2])
    return scores.masked_fill(keys > queries.unsqueeze(-1) + offset, -math.inf)
