"""0 / 0 of a query that may attend to nothing is put right by `where` afterwards, which leaves NaN in the gradients."""

CAUGHT_BY = ["5.1d"]


def attend_in_chunks(q, k, v, chunk, first_query, offset, n_seen):
    largest = q.new_full((*q.shape[:-1], 1), -math.inf)
    total = torch.zeros_like(largest)
    out = v.new_zeros(*q.shape[:-1], v.shape[-1])
    for start, stop in chunks_of(n_seen, chunk):
        scores = scores_of(q, k[..., start:stop, :], first_query, start, offset)
        new_largest = torch.maximum(largest, scores.detach().amax(dim=-1, keepdim=True))
        shift = new_largest.masked_fill(new_largest == -math.inf, 0.0)
        weights = (scores - shift).exp()
        rescale = (largest - shift).exp()
        total = total * rescale + weights.sum(dim=-1, keepdim=True)
        out = out * rescale + weights @ v[..., start:stop, :]
        largest = new_largest
    out = torch.where(total > 0, out / total, torch.zeros_like(out))
    return out, (largest + total.log()).masked_fill(total == 0, math.inf)
